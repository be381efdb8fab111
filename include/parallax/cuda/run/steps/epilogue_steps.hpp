// Products that also do the work of the loops behind them.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_algorithms.hpp>
#include <parallax/core/version.hpp>
#include <parallax/cuda/devices/mesh.hpp>
#include <parallax/cuda/names.hpp>
#include <parallax/cuda/run/steps/product_steps.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// The epilogues of one run of a section.
template <device_api Api> class epilogue_steps {
 public:
  /// Enqueues a product with its epilogue on every device. `data(buffer, position)` gives a buffer's first byte, and
  /// `at_positions(f)` calls `f` with each position. Returns false, and does nothing, if the library lacks the epilogue
  /// for these shapes: its parts have to be run then.
  template <class Data, class AtPositions>
  bool run(const mesh<Api>& all, const section_plan& section, const epilogue_step& e, const product_step& product,
           const Data& data, const AtPositions& at_positions) {
    const resolved_product step(section, product);
    if (!may_support(step, e)) return false;
    // without signs, a gradient of relu is computed by loops, but relu itself need not be; fewer columns have no room
    // for signs
    const bool of_relu = e.activation == product_activation::relu;
    bool keeps_signs = of_relu && e.auxiliary != none && step.columns >= 16;
    std::vector<matrix_product> calls = calls_of(all, section, e, product, data, !of_relu || keeps_signs);
    bool possible = are_possible(all, calls);
    if (!possible && keeps_signs) {
      keeps_signs = false;
      calls = calls_of(all, section, e, product, data, false);
      possible = are_possible(all, calls);
    }
    if (!possible || !enqueue(all, calls, at_positions)) return false;
    if (keeps_signs) signs.push_back(e.auxiliary);
    return true;
  }

 private:
  static constexpr buffer_id none = buffer_id::none;
  std::vector<buffer_id> signs; ///< buffers that hold the signs for gradients

  /// Whether the library may have an epilogue for a product of these extents; `are_possible` asks it.
  bool may_support(const resolved_product& step, const epilogue_step& e) const {
    using enum product_activation;
    if (step.rows == 0 || step.columns == 0 || step.depth == 0) return false;
    const bool of_relu = e.activation == relu, of_relu_gradient = e.activation == relu_gradient;
    const bool is_gradient = of_relu_gradient || e.activation == gelu_gradient || e.bias_gradient != none;
    if (is_gradient && step.depth == 1) return false; // the library does not support these
    if (of_relu_gradient && !plain::contains(signs, e.auxiliary)) return false;
    return of_relu || of_relu_gradient || e.auxiliary == none || step.columns % 8 == 0;
  }
  /// The call for each device.
  template <class Data>
  static std::vector<matrix_product> calls_of(const mesh<Api>& all, const section_plan& section, const epilogue_step& e,
                                              const product_step& product, const Data& data, bool with_auxiliary) {
    const resolved_product step(section, product);
    auto optional = [&](buffer_id id, int p) { return id == none ? nullptr : data(id, p); };
    std::vector<matrix_product> calls(index_of(all.size()), matrix_of(step));
    for (int p = 0; p < all.size(); ++p) {
      matrix_product& call = calls[index_of(p)];
      call.left = byte_at(data(product.left, p), step.left_offset);
      call.right = byte_at(data(product.right, p), step.right_offset);
      call.result = data(e.result, p);
      call.epilogue.activation = e.activation;
      if (e.bias != none)
        call.epilogue.bias = byte_at(data(e.bias, p), section.extents[e.bias_offset] * step.element_bytes());
      if (with_auxiliary) call.epilogue.auxiliary = optional(e.auxiliary, p);
      call.epilogue.bias_gradient = optional(e.bias_gradient, p);
      call.epilogue.sums_right = e.sums_right;
      call.workspace = all.devices[index_of(p)]->product_workspace();
    }
    return calls;
  }
  /// Whether the library supports all of the calls.
  static bool are_possible(const mesh<Api>& all, const std::vector<matrix_product>& calls) {
    for (int p = 0; p < all.size(); ++p) {
      const device<Api>& on = *all.devices[index_of(p)];
      on.activate();
      const status possible = on.can_multiply(calls[index_of(p)]);
      if (possible.is == status::kind::unsupported) return false;
      check(possible, on.number);
    }
    return true;
  }
  /// Enqueues the calls. False if the library does not support one of them, against its own word: the parts write all
  /// results again.
  template <class AtPositions>
  static bool enqueue(const mesh<Api>& all, const std::vector<matrix_product>& calls, const AtPositions& at_positions) {
    std::atomic<bool> refused = false;
    at_positions([&](int p) {
      if (refused) return;
      const device<Api>& on = *all.devices[index_of(p)];
      on.activate();
      const status enqueued = on.multiply(calls[index_of(p)]);
      if (enqueued.is == status::kind::unsupported) refused = true;
      else check(enqueued, on.number);
    });
    return !refused;
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda

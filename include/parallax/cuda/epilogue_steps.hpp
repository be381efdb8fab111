// Products that do the work of the loops behind them.
#pragma once

#include <parallax/cuda/mesh.hpp>
#include <parallax/cuda/product_steps.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace parallax::cuda {

/// The epilogues of one run of a block.
template <device_api Api> class epilogue_steps {
 public:
  /// Enqueues a product with its epilogue on every device; `data(buffer, position)` says where a buffer lies. Does
  /// nothing and returns false where the library does not have it for these shapes: its parts are to be run then.
  template <class Data>
  bool run(const mesh<Api>& all, const parallax::detail::epilogue_step& e, const parallax::detail::product_step& step,
           element_type type, const Data& data) {
    using enum product_activation;
    if (step.rows == 0 || step.columns == 0 || step.depth == 0) return false;
    const bool of_relu = e.activation == relu, of_relu_gradient = e.activation == relu_gradient;
    const bool is_gradient = of_relu_gradient || e.activation == gelu_gradient || e.bias_gradient >= 0;
    if (is_gradient && step.depth == 1) return false; // the library does not support these
    if (of_relu_gradient && std::ranges::find(signs, e.auxiliary) == signs.end()) return false;
    if (!of_relu && !of_relu_gradient && e.auxiliary >= 0 && step.columns % 8 != 0) return false;

    // without signs a gradient of relu is loops, but relu itself need not be; fewer columns have no room for them
    bool keeps_signs = of_relu && e.auxiliary >= 0 && step.columns >= 16;
    std::vector<matrix_product> calls = calls_of(all, e, step, type, data, !of_relu || keeps_signs);
    bool possible = are_possible(all, calls);
    if (!possible && keeps_signs) {
      keeps_signs = false;
      calls = calls_of(all, e, step, type, data, false);
      possible = are_possible(all, calls);
    }
    if (!possible) return false;
    for (int p = 0; p < all.size(); ++p) {
      const device<Api>& on = *all.devices[static_cast<std::size_t>(p)];
      on.activate();
      check(Api::multiply(calls[static_cast<std::size_t>(p)], on.physical, on.stream()), on.number);
    }
    if (keeps_signs) signs.push_back(e.auxiliary);
    return true;
  }

 private:
  std::vector<std::int64_t> signs; ///< buffers with the signs that gradients want

  /// The call for each device.
  template <class Data>
  static std::vector<matrix_product> calls_of(const mesh<Api>& all, const parallax::detail::epilogue_step& e,
                                              const parallax::detail::product_step& step, element_type type,
                                              const Data& data, bool with_auxiliary) {
    const auto element_bytes = static_cast<std::int64_t>(size_of(type));
    auto optional = [&](std::int64_t buffer, int p) { return buffer < 0 ? nullptr : data(buffer, p); };
    std::vector<matrix_product> calls(static_cast<std::size_t>(all.size()), matrix_of(step, type));
    for (int p = 0; p < all.size(); ++p) {
      matrix_product& call = calls[static_cast<std::size_t>(p)];
      call.left = data(step.left, p) + step.left_offset * element_bytes;
      call.right = data(step.right, p) + step.right_offset * element_bytes;
      call.result = data(e.result, p);
      call.epilogue.activation = e.activation;
      if (e.bias >= 0) call.epilogue.bias = data(e.bias, p) + e.bias_offset * element_bytes;
      if (with_auxiliary) call.epilogue.auxiliary = optional(e.auxiliary, p);
      call.epilogue.bias_gradient = optional(e.bias_gradient, p);
      call.epilogue.sums_right = e.sums_right;
      call.workspace = all.devices[static_cast<std::size_t>(p)]->product_workspace();
    }
    return calls;
  }
  /// Whether the library has all of the calls.
  static bool are_possible(const mesh<Api>& all, const std::vector<matrix_product>& calls) {
    for (int p = 0; p < all.size(); ++p) {
      const device<Api>& on = *all.devices[static_cast<std::size_t>(p)];
      on.activate();
      const status possible = Api::can_multiply(calls[static_cast<std::size_t>(p)], on.physical);
      if (possible.is == status::kind::unsupported) return false;
      check(possible, on.number);
    }
    return true;
  }
};

} // namespace parallax::cuda

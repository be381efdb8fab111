// Products whose batch dimensions do not merge into one stride: the addresses of all their matrices, so that a library
// computes all of them in one call.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>
#include <parallax/cuda/devices/allocation.hpp>
#include <parallax/cuda/devices/device.hpp>
#include <parallax/cuda/kernels/copies/write_addresses.hpp>
#include <parallax/cuda/names.hpp>
#include <parallax/cuda/run/steps/product_steps.hpp>
#include <parallax/program/section_steps.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

namespace detail {

/// A product whose matrices are at addresses; step and result identify it.
struct scattered_product {
  const product_step& step;
  buffer_id result;
  const resolved_product& resolved;
  product_batches batches;

  std::size_t bytes() const { return aligned(index_of(3 * batches.all) * sizeof(void*)); }
};

/// Calls `f` with each of a section's products whose matrices lie apart along several dimensions, in their order.
template <class F>
void for_each_scattered(const section_plan& section, plain_span<const step_record> steps, const F& f) {
  constexpr std::int64_t most_matrices = 1 << 16; // more are enough work for a call along each dimension
  const auto look_at = [&](const product_step& step, buffer_id result, const resolved_product& resolved) {
    const product_batches batches = batches_of(resolved);
    if (batches.calls() < 2 || batches.all > most_matrices || batches.rank > write_addresses::most_rank) return;
    if (resolved.rows * resolved.columns * resolved.depth > 0) f(scattered_product{step, result, resolved, batches});
  };
  for (const step_record& each : steps) {
    switch (each.kind) {
    case step_kind::product: {
      const product_step& step = section.plan.at<product_step>(each.index);
      if (step.batch.count > 1) look_at(step, step.result, resolved_product(section, step));
      break;
    }
    case step_kind::placed_product: {
      const placed_product_step& placed = section.plan.at<placed_product_step>(each.index);
      const product_step& step = product_of(section.plan, placed);
      if (step.batch.count > 1) look_at(step, placed.result, resolved_product(section, step, placed));
      break;
    }
    case step_kind::epilogue:
      for_each_scattered(section, section.plan[section.plan.at<epilogue_step>(each.index).parts], f);
      break;
    case step_kind::accumulation:
      for_each_scattered(section, section.plan[section.plan.at<accumulation_step>(each.index).parts], f);
      break;
    case step_kind::kernel:
    case step_kind::launch_batch:
    case step_kind::exchange:
    case step_kind::axis_slice:
    case step_kind::mapped_section:
    case step_kind::scan:
    case step_kind::while_loop:
    case step_kind::cond:
    case step_kind::ffi: break;
    }
  }
}

} // namespace detail

/// The memory that the addresses of a section's matrices take on each device.
inline std::size_t bytes_of_matrix_addresses(const section_plan& section) {
  std::size_t bytes = 0;
  detail::for_each_scattered(section, section.steps(),
                             [&](const detail::scattered_product& each) { bytes += each.bytes(); });
  return bytes;
}

/// The addresses of one section's matrices. One launch, before the first product, writes those of all products.
template <device_api Api> class batch_addresses {
 public:
  explicit batch_addresses(std::size_t positions) : written(positions) {}

  /// Sets the memory that the addresses are written to.
  void lie_at(int position, std::byte* memory) { written[index_of(position)] = {memory, false, {}}; }
  /// Call when operands or results have moved: the addresses have to be written again.
  void forget(int position) { written[index_of(position)].are_there = false; }

  /// Writes the addresses, unless they are written already. `data(buffer)` gives a buffer's first byte.
  template <class Data> void write(const section_plan& section, const device<Api>& on, int position, const Data& data) {
    of_position& own = written[index_of(position)];
    if (own.are_there) return;
    own.are_there = true;
    own.products.clear();
    std::byte* next = own.memory;
    write_addresses::arguments a{};
    const auto launch = [&] {
      if (a.count > 0)
        check(Api::launch(write_addresses{}, write_addresses::shape(a, on.context()), on.stream(), a), on.number);
      a = {};
    };
    on.activate();
    detail::for_each_scattered(section, section.steps(), [&](const detail::scattered_product& each) {
      auto** const addresses = reinterpret_cast<void**>(next);
      next += each.bytes();
      std::byte* const left = byte_at(data(each.step.left), each.resolved.left_offset);
      std::byte* const right = byte_at(data(each.step.right), each.resolved.right_offset);
      std::byte* const result = data(each.result);
      matrix_product call = matrix_of(each.resolved, each.batches, addresses);
      call.left = left, call.right = right, call.result = result;
      call.workspace = on.product_workspace();
      const status possible = on.can_multiply(call);
      if (possible.is == status::kind::unsupported) return;
      check(possible, on.number);
      a.add(each.batches, each.resolved.element_bytes(), left, right, result, addresses);
      own.products.push_back({&each.step, each.result, addresses});
      if (a.count == write_addresses::most_products) launch();
    });
    launch();
  }

  /// The addresses of a product, once they are written; null if the library goes along strides.
  void* const* of(const product_step& step, buffer_id result, int position) const {
    for (const product& each : written[index_of(position)].products)
      if (each.step == &step && each.result == result) return each.addresses;
    return nullptr;
  }

 private:
  struct product {
    const product_step* step;
    buffer_id result;
    void* const* addresses;
  };
  struct of_position {
    std::byte* memory = nullptr;
    bool are_there = false;
    std::vector<product> products;
  };
  std::vector<of_position> written;
};

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda

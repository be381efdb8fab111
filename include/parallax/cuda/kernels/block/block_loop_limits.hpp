// The loops of a program that one block runs from the first round to the last: their rounds are so small that a launch
// for each step would cost more than the step.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>
#include <parallax/cuda/api/block.hpp>
#include <parallax/cuda/kernels/block/block_kernels.hpp>
#include <parallax/cuda/kernels/block/block_loop_memory.hpp>
#include <parallax/cuda/kernels/loop/product_batches.hpp>
#include <parallax/cuda/names.hpp>
#include <parallax/program/plan.hpp>
#include <parallax/program/section_steps.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

namespace block_loop_limits {
inline constexpr int most_threads = 512;
inline constexpr std::int64_t most_elements = 4096;         ///< of one step
inline constexpr std::int64_t most_multiplications = 32768; ///< of one product
inline constexpr std::int64_t most_in_order = 128;          ///< elements that one thread goes along
inline constexpr int most_statements = 512;                 ///< of all steps: each is compiled
inline constexpr int most_nested = 3; ///< loops, one inside the other; the cost of more with nvcc is not measured
inline constexpr std::size_t most_bytes = 40 * 1024; ///< of shared memory
inline constexpr int most_axes = 8;                  ///< of a mesh, along which devices have places
} // namespace block_loop_limits

/// What is known of a loop's sections.
class block_loop_estimate {
 public:
  bool is_small = true;
  int statements = 0;
  std::int64_t widest = 1; ///< elements that the threads share in one step

  constexpr explicit block_loop_estimate(const plan_view& of) : plan(of) {}

  /// Adds a section of static extents.
  constexpr void add(section_id section) {
    for_each_step(plan, section, [&](const step_record& step) {
      switch (step.kind) {
      case step_kind::kernel: return add_kernel(plan.at<kernel_step>(step.index));
      case step_kind::product: return add_product(plan.at<product_step>(step.index));
      case step_kind::scan: is_small = is_small && has_static_slices(plan, plan.at<scan_step>(step.index)); break;
      case step_kind::while_loop:
      case step_kind::cond: break;
      case step_kind::epilogue:
      case step_kind::accumulation:
      case step_kind::placed_product:
      case step_kind::launch_batch:
      case step_kind::exchange:
      case step_kind::axis_slice:
      case step_kind::ffi:
      case step_kind::mapped_section: is_small = false; return;
      }
      const bool is_loop = step.kind != step_kind::cond;
      nested += is_loop ? 1 : 0;
      is_small = is_small && nested <= block_loop_limits::most_nested;
      if (is_small) for_each_body(plan, step, [&](section_id body) { add(body); });
      nested -= is_loop ? 1 : 0;
    });
  }
  /// Threads of the block: a power of two.
  constexpr int threads() const {
    return std::max(warp_size, detail::power_of_two(widest, block_loop_limits::most_threads));
  }
  /// Shared memory that a step may need for itself.
  constexpr std::size_t step_bytes() const { return static_cast<std::size_t>(threads()) * 16; }

  template <class Step> static constexpr bool has_static_slices(const plan_view& plan, const Step& loop) {
    bool known = true;
    for (const scan_operand& x : plan[loop.operands]) known = known && is_static(x.slice);
    for (const scan_result& y : plan[loop.results]) known = known && is_static(y.slice);
    return known;
  }

 private:
  const plan_view& plan;
  int nested = 1; ///< loops around what is being added

  constexpr void add_kernel(const kernel_step& step) {
    const kernel_record& kernel = plan.at<kernel_record>(static_cast<int>(step.kernel));
    std::int64_t elements = 1;
    for (dim extent : plan[step.extents])
      elements = std::min(elements * std::min(extent.number(), block_loop_limits::most_elements + 1),
                          block_loop_limits::most_elements + 1);
    is_small = is_small && elements > 0 && elements <= block_loop_limits::most_elements &&
               step.operands.count < int{max_block_operands} && step.constants.count < int{max_block_operands};
    for (const kernel_constant& c : plan[step.constants])
      is_small = is_small && static_cast<int>(c.axis) < block_loop_limits::most_axes;
    if (!is_small) return;
    statements += kernel.statements.count;
    widest = std::max(widest, elements);
    is_small = may_be_ordered(kernel.result, step);
  }
  /// Whether one block may go over a kernel's elements in the order that its result asks for.
  constexpr bool may_be_ordered(kernel_result result, const kernel_step& step) const {
    switch (result) {
    case kernel_result::sorted: return false;
    case kernel_result::vector:
    case kernel_result::strided:
    case kernel_result::reduction:
    case kernel_result::rows: return true;
    case kernel_result::cumulative:
    case kernel_result::reverse_cumulative:
    case kernel_result::scattered: break;
    }
    std::int64_t in_order = 1;
    for (int d = 0; d < step.extents.count; ++d)
      if (step.reduced.contains(d)) in_order *= plan[step.extents][index_of(d)].number();
    return in_order <= block_loop_limits::most_in_order;
  }
  constexpr void add_product(const product_step& step) {
    std::int64_t batch[max_rank] = {}, left[max_rank] = {}, right[max_rank] = {}, results = 1;
    for (int d = 0; d < step.batch.count; ++d) {
      batch[d] = plan[step.batch][index_of(d)].number();
      left[d] = plan[step.left_batch][index_of(d)].number();
      right[d] = plan[step.right_batch][index_of(d)].number();
    }
    constexpr std::int64_t most = block_loop_limits::most_multiplications + 1;
    auto grow = [&](std::int64_t extent) { results = std::min(results * std::min(extent, most), most); };
    for (int d = 0; d < step.batch.count; ++d) grow(batch[d]);
    grow(step.rows.number());
    grow(step.columns.number());
    widest = std::max(widest, results);
    grow(step.depth.number());
    is_small =
        is_small && results > 0 && results < most && product_batches(step.batch.count, batch, left, right).rank == 1;
    ++statements;
  }
};

/// Whether one block runs a whole loop: a scan, whose count may be known at the call only, or a while loop.
template <loop_step Step> constexpr bool is_block_loop(const plan_view& plan, const Step& loop) {
  const auto is_known = [&](section_id section) {
    return needs_no_devices(plan, section) && has_static_extents(plan, section);
  };
  if (!is_known(loop.body) || !block_loop_estimate::has_static_slices(plan, loop)) return false;
  if constexpr (std::is_same_v<Step, while_step>)
    if (!is_known(loop.predicate)) return false;
  block_loop_estimate estimate(plan);
  estimate.add(loop.body);
  if constexpr (std::is_same_v<Step, while_step>) estimate.add(loop.predicate);
  if (!estimate.is_small || estimate.statements > block_loop_limits::most_statements) return false;
  const block_loop_memory memory(plan);
  std::size_t sections = memory.of_section(loop.body);
  if constexpr (std::is_same_v<Step, while_step>) sections = std::max(sections, memory.of_section(loop.predicate));
  return estimate.step_bytes() + memory.beside_bodies(loop) + sections <= block_loop_limits::most_bytes;
}

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda

// A program's kernels and products of static extents as one block runs them: all their arguments but the addresses are
// known while compiling.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>
#include <parallax/cuda/api/api.hpp>
#include <parallax/cuda/kernels/elementwise/elementwise.hpp>
#include <parallax/cuda/kernels/loop/product_batches.hpp>
#include <parallax/cuda/kernels/order/scatter.hpp>
#include <parallax/cuda/kernels/reductions/cumulative.hpp>
#include <parallax/cuda/kernels/reductions/reduce.hpp>
#include <parallax/cuda/kernels/rows/rows.hpp>
#include <parallax/cuda/names.hpp>
#include <parallax/program/kernel.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// The most operands, and constants, of a kernel that a block runs as a step.
inline constexpr std::size_t max_block_operands = 64;

/// A thread's view of its block as the only block of a kernel, which is one step of the block's work.
template <class Block> struct step_block {
  const Block& whole;
  std::byte* memory; ///< shared, for the step alone

  PARALLAX_DEVICE int thread() const { return whole.thread(); }
  PARALLAX_DEVICE int threads() const { return whole.threads(); }
  static PARALLAX_DEVICE std::int64_t block() { return 0; }
  static PARALLAX_DEVICE std::int64_t blocks() { return 1; }
  template <class T> PARALLAX_DEVICE PARALLAX_INLINE T load(const T* source) const { return whole.load(source); }
  template <class T> PARALLAX_DEVICE PARALLAX_INLINE void store(T* target, std::type_identity_t<T> value) const {
    whole.store(target, value);
  }
  PARALLAX_DEVICE std::byte* shared() const { return memory; }
  PARALLAX_DEVICE void barrier() const { whole.barrier(); }
  template <class T> PARALLAX_DEVICE T shuffle_down(T value, int distance) const {
    return whole.shuffle_down(value, distance);
  }
  template <class T> PARALLAX_DEVICE T shuffle_xor(T value, int distance) const {
    return whole.shuffle_xor(value, distance);
  }
  PARALLAX_DEVICE void set_condition(std::uint64_t condition, unsigned number) const {
    whole.set_condition(condition, number);
  }
};

/// The kernel that goes over a loop.
enum class block_way { elementwise, row_reduction, column_reduction, held_rows, scatter, cumulative };

/// The kernel for a loop; collapses the loop's dimensions.
constexpr block_way way_of(kernel_result result, bool has_reduction, kernel_arguments& a) {
  switch (result) {
  case kernel_result::rows: return block_way::held_rows;
  case kernel_result::scattered: return block_way::scatter;
  case kernel_result::cumulative:
  case kernel_result::reverse_cumulative: return block_way::cumulative;
  case kernel_result::vector:
  case kernel_result::strided:
  case kernel_result::reduction:
  case kernel_result::sorted: break; // `block_loop_estimate` leaves sorted ones to kernels
  }
  if (!has_reduction) return block_way::elementwise;
  a.collapse();
  return detail::reduction_loop(a).innermost_reduced ? block_way::row_reduction : block_way::column_reduction;
}

/// How one block of `Threads` threads, a power of two from a warp on, runs a kernel: `type`, and its `arguments(a)`,
/// for a loop that may be changed.
template <class Kernel, int Threads, block_way> struct block_kernel;

namespace detail {
/// The number of a block's threads that share each of `results` results, of `work` elements each.
constexpr int threads_of_result(std::int64_t work, std::int64_t results, int threads) {
  if (results == 1 && work >= 4 * std::int64_t{warp_size}) return threads;
  int group = power_of_two(work, warp_size);
  while (group > 1 && results * group > threads) group /= 2;
  return group;
}
constexpr reduction_items block_items(const reduction_loop& shape, std::int64_t results, std::int64_t together) {
  reduction_items items;
  const std::int64_t count = (results + together - 1) / together;
  items.count = static_cast<std::uint32_t>(count);
  items.per_piece = divisor::of(count);
  items.results = static_cast<std::uint32_t>(results);
  items.kept_rank = shape.kept_rank;
  return items;
}
constexpr std::int64_t rows_of(const kernel_arguments& a) {
  std::int64_t rows = 1;
  for (int d = 0; d + 1 < a.rank; ++d) rows *= a.extents[d];
  return rows;
}
} // namespace detail

template <class Kernel, int Threads> struct block_kernel<Kernel, Threads, block_way::elementwise> {
  using type = elementwise<Kernel>;
  static constexpr typename type::arguments arguments(kernel_arguments& a) {
    a.collapse();
    return {typename type::evaluate::loop_type(a),
            cut_rows(detail::rows_of(a), a.rank > 0 ? a.extents[a.rank - 1] : 1, 0)};
  }
};
template <class Kernel, int Threads> struct block_kernel<Kernel, Threads, block_way::row_reduction> {
  using type = reduce_rows<Kernel>;
  static constexpr typename type::arguments arguments(kernel_arguments& a) {
    a.collapse();
    const detail::reduction_loop shape(a);
    const std::int64_t results = shape.results(a);
    const int group = detail::threads_of_result(shape.reduced(a), results, Threads);
    return {typename type::evaluate::loop_type(a), cut_rows(shape.reduced_rows(a), a.extents[a.rank - 1], 0),
            detail::block_items(shape, results, Threads / group), group};
  }
};
template <class Kernel, int Threads> struct block_kernel<Kernel, Threads, block_way::column_reduction> {
  using type = reduce_columns<Kernel>;
  static constexpr typename type::arguments arguments(kernel_arguments& a) {
    a.collapse();
    const detail::reduction_loop shape(a);
    const std::int64_t results = shape.results(a), length = a.extents[a.rank - 1];
    const int side = detail::power_of_two(results, Threads);
    return {typename type::evaluate::loop_type(a),
            detail::block_items(shape, results, side),
            row_pieces(results / length, length, 0),
            static_cast<std::uint32_t>(shape.reduced(a)),
            side,
            false};
  }
};
template <class Kernel, int Threads> struct block_kernel<Kernel, Threads, block_way::held_rows> {
  using type = held_rows<Kernel, 1>;
  static constexpr typename type::arguments arguments(kernel_arguments& a) {
    a.collapse_rows();
    const std::int64_t rows = detail::rows_of(a), length = a.extents[a.rank - 1];
    int group = detail::threads_of_result(length, rows, Threads);
    while (group * type::vectors < length) group = group < warp_size ? 2 * group : Threads;
    return {typename type::passes::loop_type(a), static_cast<std::uint32_t>(rows), static_cast<std::uint32_t>(length),
            group};
  }
};
template <class Kernel, int Threads> struct block_kernel<Kernel, Threads, block_way::scatter> {
  using type = scatter_lines<Kernel>;
  static constexpr typename type::arguments arguments(kernel_arguments& a) {
    const int kept_rank = detail::independent_first(a);
    return detail::positions_of<Kernel>(a, kept_rank);
  }
};
template <class Kernel, int Threads> struct block_kernel<Kernel, Threads, block_way::cumulative> {
  using type = cumulate_lines<Kernel>;
  static constexpr typename type::arguments arguments(kernel_arguments& a) {
    a.collapse();
    a.reduced_dimension();
    const detail::reduction_loop shape(a);
    return {typename type::C::loop_type(a),
            static_cast<std::uint32_t>(shape.results(a)),
            static_cast<std::uint32_t>(shape.reduced(a)),
            divisor::of(shape.innermost_reduced ? 1 : a.extents[a.rank - 1]),
            shape.kept_rank,
            shape.innermost_reduced};
  }
};

/// Calls `f` with the loop of a kernel step of static extents, without addresses.
template <class F>
constexpr auto with_static_loop(const plan_view& plan, const section_record& section, const kernel_step& step,
                                const F& f) {
  operand operands[max_block_operands] = {};
  constant_bits constants[max_block_operands] = {};
  kernel_arguments a;
  a.rank = step.extents.count;
  for (int d = 0; d < a.rank; ++d) a.extents[d] = plan[step.extents][index_of(d)].number();
  a.reduced = step.reduced.bits;
  for (const operand_record& from : plan[step.operands]) {
    operand& o = operands[a.operand_count++];
    const bool is_index = from.buffer == buffer_id::none;
    o.start = is_index ? from.offset.number() : 0;
    o.element_bytes =
        is_index ? 1 : static_cast<std::int64_t>(size_of(plan[section.buffers][index_of(from.buffer)].type));
    for (int d = 0; d < a.rank; ++d) o.strides[d] = plan[from.strides][index_of(d)].number();
  }
  for (const kernel_constant& c : plan[step.constants])
    constants[a.constant_count++] =
        constant_of(c, [](dim extent) { return extent.number(); }, [](mesh_axis) { return 0; });
  a.operands = operands;
  a.constants = constants;
  return f(a);
}

/// A kernel step of a program whose extents are static, as a block of `Threads` runs it.
template <class Program, section_id Section, int Step, int Threads> struct block_kernel_step {
  static constexpr kernel_step step = Program::plan.template at<kernel_step>(Step);
  using kernel = typename program_kernel<Program, static_cast<int>(step.kernel)>::type;
  template <class F> static constexpr auto with_loop(const F& f) {
    return with_static_loop(Program::plan, Program::plan.section(Section), step, f);
  }
  static constexpr block_way way =
      with_loop([](kernel_arguments& a) { return way_of(kernel::result, kernel::has_reduction, a); });
  using type = typename block_kernel<kernel, Threads, way>::type;
  static constexpr typename type::arguments arguments =
      with_loop([](kernel_arguments& a) { return block_kernel<kernel, Threads, way>::arguments(a); });
};

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda

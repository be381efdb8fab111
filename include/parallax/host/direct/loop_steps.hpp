// The steps of a direct call that computes more than a few numbers: loops and products are called one after another,
// with constants for everything that is known while compiling.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_algorithms.hpp>
#include <parallax/core/version.hpp>
#include <parallax/host/direct/direct_steps.hpp>
#include <parallax/host/direct/nested_steps.hpp>
#include <parallax/host/direct/small_products.hpp>
#include <parallax/host/direct/straight_call.hpp>
#include <parallax/host/kernels/kernel_function.hpp>
#include <parallax/host/kernels/loop/nothing_to_read.hpp>
#include <parallax/host/kernels/products/product_arguments.hpp>
#include <parallax/host/names.hpp>
#include <parallax/host/simd/lanes/registers.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS {

/// `Execution` says who does the work, how products are computed and whether they are added to a base; `Extents` gives
/// the values of extents.
template <class Program, section_id Section, class Extents, class Execution> class loop_steps {
  using steps = direct_steps<Program, Section>;
  static constexpr std::size_t buffer_count = index_of(steps::section.buffers.count);
  static constexpr const buffer_record& record(std::size_t number) {
    return Program::plan[steps::section.buffers][number];
  }

 public:
  using extents_type = Extents;
  using execution_type = Execution;
  const Extents& extents;
  std::byte* row_memory = nullptr;                              ///< see `kernel_arguments`
  std::byte* memory_behind;                                     ///< for bodies
  std::byte* first_bytes[buffer_count == 0 ? 1 : buffer_count]; ///< of the buffers

  /// `values` are the first elements of the arguments, `outputs` those of the results. Slot number `s` begins at `slots
  /// + offsets[s]`; the memory behind all slots begins where one more slot would.
  PARALLAX_INLINE loop_steps(const Extents& resolved, const std::byte* const* values, std::byte* const* outputs,
                             std::byte* slots, const std::size_t* offsets)
      : extents(resolved),
        memory_behind(at_offset(slots, static_cast<std::int64_t>(offsets[index_of(steps::section.slot_count)]))) {
    place_all(values, outputs, slots, offsets, std::make_index_sequence<buffer_count>{});
  }

  PARALLAX_INLINE void run() { run_all(std::make_index_sequence<index_of(steps::count)>{}); }

  static constexpr element_type type_of(buffer_id buffer) { return record(index_of(buffer)).type; }
  /// The first element of a buffer.
  template <int Buffer> PARALLAX_INLINE auto* data() {
    return reinterpret_cast<element_t<record(index_of(Buffer)).type>*>(first_bytes[Buffer]);
  }

 private:
  template <std::size_t... B>
  PARALLAX_INLINE void place_all([[maybe_unused]] const std::byte* const* values,
                                 [[maybe_unused]] std::byte* const* outputs, [[maybe_unused]] std::byte* slots,
                                 [[maybe_unused]] const std::size_t* offsets, std::index_sequence<B...>) {
    (place<B>(values, outputs, slots, offsets), ...);
  }
  template <std::size_t B>
  PARALLAX_INLINE void place([[maybe_unused]] const std::byte* const* values,
                             [[maybe_unused]] std::byte* const* outputs, [[maybe_unused]] std::byte* slots,
                             [[maybe_unused]] const std::size_t* offsets) {
    constexpr std::size_t number = index_of(record(B).number);
    if constexpr (record(B).kind == buffer_kind::bound) first_bytes[B] = const_cast<std::byte*>(values[number]);
    else if constexpr (record(B).kind == buffer_kind::output) first_bytes[B] = outputs[number];
    else {
      static_assert(record(B).kind == buffer_kind::slot);
      first_bytes[B] = at_offset(slots, static_cast<std::int64_t>(offsets[number]) + record(B).offset);
    }
  }
  /// The address `offset` bytes behind `first`; null if `first` is null.
  static PARALLAX_INLINE std::byte* at_offset(std::byte* first, std::int64_t offset) {
    return first == nullptr ? nullptr : first + offset;
  }

  template <std::size_t... I> PARALLAX_INLINE void run_all(std::index_sequence<I...>) { (run_step<I>(), ...); }
  template <std::size_t I> PARALLAX_INLINE void run_step() {
    constexpr step_record step = steps::all[I];
    constexpr int accumulation = Execution::has_accumulations ? steps::accumulations[I] : -1;
    if constexpr (accumulation >= 0) {
      constexpr accumulation_step whole = Program::plan.template at<accumulation_step>(accumulation);
      if (extents[product_of(Program::plan, whole).depth] <= most_accumulated_depth) {
        if constexpr (step.kind == step_kind::product) run_accumulation<accumulation, step.index>();
        return;
      }
    }
    run_one<step.kind, step.index>();
  }
  template <step_kind Kind, int Index> PARALLAX_INLINE void run_one() {
    constexpr bool is_straight = steps::has_straight_bodies({Kind, Index});
    if constexpr (Kind == step_kind::kernel) run_kernel<Index>();
    else if constexpr (Kind == step_kind::scan) run_scan<Index, is_straight>();
    else if constexpr (Kind == step_kind::while_loop) run_while<Index, is_straight>();
    else if constexpr (Kind == step_kind::cond) run_cond<Index, is_straight>();
    else if constexpr (Kind == step_kind::ffi)
      run_ffi<Index>(std::make_index_sequence<index_of(ffi_at<Index>.arrays.count)>{});
    else {
      static_assert(Kind == step_kind::product);
      run_product_step<Index>();
    }
  }
  template <int Index, bool IsStraight> PARALLAX_INLINE void run_scan() {
    const std::int64_t rounds = extents[Program::plan.template at<scan_step>(Index).count];
    if constexpr (IsStraight) straight_loop_step<Program, scan_step, Index, loop_steps>::run_scan(*this, rounds);
    else nested_loop<Program, scan_step, Index, loop_steps>(*this).run_scan(rounds);
  }
  template <int Index, bool IsStraight> PARALLAX_INLINE void run_while() {
    if constexpr (IsStraight) straight_loop_step<Program, while_step, Index, loop_steps>::run_while(*this);
    else nested_loop<Program, while_step, Index, loop_steps>(*this).run_while();
  }
  template <int Index, bool IsStraight> PARALLAX_INLINE void run_cond() {
    if constexpr (IsStraight) straight_cond<Program, Index, loop_steps>::run(*this);
    else nested_cond<Program, Index, loop_steps>::run(*this);
  }

  template <int Index> static constexpr ffi_step ffi_at = Program::plan.template at<ffi_step>(Index);
  template <int Index, std::size_t... A> void run_ffi(std::index_sequence<A...>) {
    constexpr auto arrays = Program::plan[ffi_at<Index>.arrays];
    std::byte* const places[] = {first_bytes[index_of(arrays[A].buffer)]...};
    std::int64_t sizes[(std::size_t{1} + ... + index_of(arrays[A].extents.count))];
    std::size_t next = 0;
    for (const ffi_array& array : arrays)
      for (const dim extent : Program::plan[array.extents]) sizes[next++] = extents[extent];
    Program::plan.ffi_functions[ffi_at<Index>.function]->host({places, sizes});
  }

  template <int Index> static constexpr kernel_step kernel_at = Program::plan.template at<kernel_step>(Index);
  template <int Index> PARALLAX_INLINE void run_kernel() {
    run_kernel<Index>(std::make_index_sequence<index_of(kernel_at<Index>.extents.count)>{},
                      std::make_index_sequence<index_of(kernel_at<Index>.operands.count)>{},
                      std::make_index_sequence<index_of(kernel_at<Index>.constants.count)>{});
  }
  template <int Index, std::size_t... D, std::size_t... O, std::size_t... C>
  PARALLAX_INLINE void run_kernel(std::index_sequence<D...>, std::index_sequence<O...>, std::index_sequence<C...>) {
    constexpr const kernel_step& step = kernel_at<Index>;
    using kernel = typename program_kernel<Program, static_cast<int>(step.kernel)>::type;
    operand operands[sizeof...(O)];
    (set_operand<Index, O>(operands[O], std::make_index_sequence<sizeof...(D)>{}), ...);
    const constant_bits constants[] = {constant_at<Index, C>()..., constant_bits{0}};
    constexpr bool is_elementwise = kernel::result == kernel_result::vector || kernel::result == kernel_result::strided;
    if constexpr (is_elementwise && sizeof...(D) <= 1) {
      run_elementwise_row<kernel, typename Execution::work>(
          operands, constants, (std::int64_t{1} * ... * extents[Program::plan[step.extents][D]]));
    } else {
      kernel_arguments a;
      a.rank = step.extents.count;
      a.reduced = step.reduced.bits;
      ((a.extents[D] = extents[Program::plan[step.extents][D]]), ...);
      if constexpr (!steps::are_static) Execution::check_loop(a.extents, a.rank);
      a.operand_count = static_cast<int>(sizeof...(O));
      a.operands = operands;
      a.constant_count = static_cast<int>(sizeof...(C));
      a.constants = constants;
      a.row_memory = row_memory;
      kernel_function_of<kernel, typename Execution::work>()(a);
    }
  }
  /// Whether a gather reads an operand that may have no elements. The read has no effect then.
  template <int Index> static constexpr bool may_be_read_without_elements(std::size_t operand) {
    const buffer_id buffer = Program::plan[kernel_at<Index>.operands][operand].buffer;
    if (buffer == buffer_id::none || is_static(record(index_of(buffer)).count)) return false;
    const auto& kernel = Program::plan.template at<kernel_record>(static_cast<int>(kernel_at<Index>.kernel));
    return plain::any_of(Program::plan[kernel.statements], [&](const kernel_statement& each) {
      return is_gather(each.kind) && index_of(each.argument) == operand;
    });
  }
  template <int Index, std::size_t O, std::size_t... D>
  PARALLAX_INLINE void set_operand(operand& o, std::index_sequence<D...>) const {
    constexpr operand_record from = Program::plan[kernel_at<Index>.operands][O];
    const std::int64_t offset = extents[from.offset];
    if constexpr (from.buffer == buffer_id::none) {
      o.start = offset;
      o.element_bytes = 1;
      o.data = nullptr;
    } else {
      o.start = 0;
      o.element_bytes = static_cast<std::int64_t>(size_of(record(index_of(from.buffer)).type));
      o.data = at_offset(first_bytes[index_of(from.buffer)], offset * o.element_bytes);
    }
    if constexpr (sizeof...(D) == 0) o.strides[0] = 0;
    ((o.strides[D] = extents[Program::plan[from.strides][D]]), ...);
    if constexpr (may_be_read_without_elements<Index>(O)) {
      if (extents[record(index_of(from.buffer)).count] != 0) return;
      o.data = nothing_to_read();
      ((o.strides[D] = 0), ...);
    }
  }
  template <int Index, std::size_t C> PARALLAX_INLINE constant_bits constant_at() const {
    constexpr kernel_constant c = Program::plan[kernel_at<Index>.constants][C];
    using T = element_t<c.type>;
    if constexpr (c.kind == constant_kind::extent) return constant_bits::of(static_cast<T>(extents[c.extent]));
    else return constant_bits::of(detail::compiled_number<T>(c));
  }

  template <int Accumulation, int Product> PARALLAX_INLINE void run_accumulation() {
    constexpr accumulation_step step = Program::plan.template at<accumulation_step>(Accumulation);
    using T = element_t<record(index_of(step.result)).type>;
    product_arguments p = arguments_of_product<Product>();
    p.result = first_bytes[index_of(step.result)];
    p.base = first_bytes[index_of(step.base)];
    p.scale = std::bit_cast<double>(step.scale_bits);
    Execution::template run_product<T>(p);
  }
  template <int Index> PARALLAX_INLINE void run_product_step() {
    constexpr product_step step = Program::plan.template at<product_step>(Index);
    using T = element_t<record(index_of(step.result)).type>;
    product_arguments p = arguments_of_product<Index>();
    p.result = first_bytes[index_of(step.result)];
    if constexpr (steps::has_small_product(step)) {
      constexpr int rows = static_cast<int>(step.rows.number()), columns = static_cast<int>(step.columns.number()),
                    depth = static_cast<int>(step.depth.number());
      run_small_products<T, rows, columns, depth, typename Execution::work>(p, strides_of<Index>{});
    } else {
      Execution::template run_product<T>(p);
    }
  }
  /// The arguments of a product, without its result.
  template <int Index> PARALLAX_INLINE product_arguments arguments_of_product() const {
    constexpr product_step step = Program::plan.template at<product_step>(Index);
    product_arguments p;
    p.type = record(index_of(step.result)).type;
    const auto element_bytes = static_cast<std::int64_t>(size_of(p.type));
    p.left = at_offset(first_bytes[index_of(step.left)], extents[step.left_offset] * element_bytes);
    p.right = at_offset(first_bytes[index_of(step.right)], extents[step.right_offset] * element_bytes);
    p.batch_rank = step.batch.count;
    set_batch<Index>(p, std::make_index_sequence<index_of(step.batch.count)>{});
    p.rows = extents[step.rows], p.columns = extents[step.columns], p.depth = extents[step.depth];
    p.left_row = extents[step.left_row], p.left_depth = extents[step.left_depth];
    p.right_depth = extents[step.right_depth], p.right_column = extents[step.right_column];
    return p;
  }
  template <int Index> struct strides_of {
    PARALLAX_INLINE product_strides operator()(const product_arguments& p) const {
      constexpr product_step step = Program::plan.template at<product_step>(Index);
      return {or_given(step.left_row, p.left_row), or_given(step.left_depth, p.left_depth),
              or_given(step.right_depth, p.right_depth), or_given(step.right_column, p.right_column)};
    }
    static PARALLAX_INLINE std::int64_t or_given(dim stride, std::int64_t given) {
      return is_static(stride) ? stride.number() : given;
    }
  };
  template <int Index, std::size_t... D>
  PARALLAX_INLINE void set_batch(product_arguments& p, std::index_sequence<D...>) const {
    [[maybe_unused]] constexpr product_step step = Program::plan.template at<product_step>(Index);
    ((p.batch[D] = extents[Program::plan[step.batch][D]], p.left_batch[D] = extents[Program::plan[step.left_batch][D]],
      p.right_batch[D] = extents[Program::plan[step.right_batch][D]]),
     ...);
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS

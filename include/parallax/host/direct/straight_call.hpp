// Calls of programs that are written out number by number.
#pragma once

#include <parallax/core/ids.hpp>
#include <parallax/host/direct/direct_steps.hpp>
#include <parallax/host/direct/small_product.hpp>
#include <parallax/host/direct/straight_loop.hpp>
#include <parallax/host/names.hpp>
#include <parallax/host/simd/registers.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace parallax::host::inline PARALLAX_REGISTERS {

/// Where the buffers of a straight program lie. Slots have objects of their own, so that the compiler may
/// keep small ones in registers.
template <class Program> struct direct_buffers {
  using steps = direct_steps<Program>;
  static constexpr const buffer_record& record(int buffer) {
    return Program::plan[steps::section.buffers][index_of(buffer)];
  }
  template <int Buffer> using element_of = element_t<record(Buffer).type>;

  template <int Buffer> struct own {
    element_of<Buffer> values[index_of(record(Buffer).count.number())];
  };
  template <int Buffer> struct nothing {};
  template <int Buffer> static constexpr auto own_or_nothing() {
    if constexpr (record(Buffer).kind == buffer_kind::slot && record(Buffer).count.number() > 0)
      return std::type_identity<own<Buffer>>{};
    else return std::type_identity<nothing<Buffer>>{};
  }
  template <class Indices> struct owned;
  template <std::size_t... I>
  struct owned<std::index_sequence<I...>> : decltype(own_or_nothing<static_cast<int>(I)>())::type... {};
  using memory = owned<std::make_index_sequence<index_of(steps::section.buffers.count)>>;
};

/// The buffers of a straight program.
template <class Program> struct straight_frame {
  using buffers = direct_buffers<Program>;
  const std::byte* const* values;
  std::byte* const* outputs;
  typename buffers::memory memory;

  template <int Buffer> PARALLAX_INLINE auto* data() {
    using T = typename buffers::template element_of<Buffer>;
    constexpr buffer_record record = buffers::record(Buffer);
    if constexpr (record.kind == buffer_kind::value)
      return const_cast<T*>(reinterpret_cast<const T*>(values[index_of(record.number)]));
    else if constexpr (record.kind == buffer_kind::output)
      return reinterpret_cast<T*>(outputs[index_of(record.number)]);
    else if constexpr (record.count.number() == 0) return static_cast<T*>(nullptr);
    else return static_cast<typename buffers::template own<Buffer>&>(memory).values;
  }
};

/// Runs a program whose numbers are written out.
template <class Program> class straight_call {
  using steps = direct_steps<Program>;
  using frame = straight_frame<Program>;

 public:
  /// `values` are the first elements of the arguments, `outputs` of the results.
  static PARALLAX_INLINE void run(const std::byte* const* values, std::byte* const* outputs) {
    frame where{values, outputs, {}};
    run_all(where, std::make_index_sequence<index_of(steps::count)>{});
  }

 private:
  template <std::size_t... I> static PARALLAX_INLINE void run_all(frame& where, std::index_sequence<I...>) {
    (run_one<steps::all[I].kind, steps::all[I].index>(where), ...);
  }
  template <step_kind Kind, int Index> static PARALLAX_INLINE void run_one(frame& where) {
    if constexpr (Kind == step_kind::kernel) straight_loop<Program, Index>::run(where);
    else run_product<Index>(where);
  }
  template <int Index> static constexpr product_step product_at = Program::plan.template at<product_step>(Index);
  template <int Index>
  static constexpr std::size_t product_count = [] {
    std::size_t products = 1;
    for (dim extent : Program::plan[product_at<Index>.batch]) products *= index_of(extent.number());
    return products;
  }();
  /// Where an operand of product number `number` of a batch begins.
  template <int Index>
  static constexpr std::int64_t product_offset(std::size_t number, dim first, record_list<dim> strides) {
    const record_list<dim> batch = product_at<Index>.batch;
    std::int64_t sum = first.number(), rest = static_cast<std::int64_t>(number);
    for (int d = batch.count; d-- > 0;) {
      const std::int64_t extent = Program::plan[batch][index_of(d)].number();
      sum += rest % extent * Program::plan[strides][index_of(d)].number();
      rest /= extent;
    }
    return sum;
  }
  template <int Index> static PARALLAX_INLINE void run_product(frame& where) {
    run_products<Index>(where, std::make_index_sequence<product_count<Index>>{});
  }
  template <int Index, std::size_t... Number>
  static PARALLAX_INLINE void run_products(frame& where, std::index_sequence<Number...>) {
    (run_matrix<Index, Number>(where), ...);
  }
  template <int Index, std::size_t Number> static PARALLAX_INLINE void run_matrix(frame& where) {
    constexpr const product_step& step = product_at<Index>;
    constexpr std::int64_t left = product_offset<Index>(Number, step.left_offset, step.left_batch),
                           right = product_offset<Index>(Number, step.right_offset, step.right_batch);
    constexpr int rows = static_cast<int>(step.rows.number()), columns = static_cast<int>(step.columns.number()),
                  depth = static_cast<int>(step.depth.number());
    using T = typename direct_buffers<Program>::template element_of<static_cast<int>(step.result)>;
    small_product<T, rows, columns, depth>(
        where.template data<static_cast<int>(step.left)>() + left,
        where.template data<static_cast<int>(step.right)>() + right,
        where.template data<static_cast<int>(step.result)>() + Number * std::size_t{rows * columns},
        {step.left_row.number(), step.left_depth.number(), step.right_depth.number(), step.right_column.number()});
  }
};

} // namespace parallax::host::inline PARALLAX_REGISTERS

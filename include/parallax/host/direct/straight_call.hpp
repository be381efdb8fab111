// Calls of programs that are written out number by number.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>
#include <parallax/host/direct/direct_steps.hpp>
#include <parallax/host/direct/small_product.hpp>
#include <parallax/host/direct/straight_buffers.hpp>
#include <parallax/host/direct/straight_loop.hpp>
#include <parallax/host/direct/straight_nested.hpp>
#include <parallax/host/names.hpp>
#include <parallax/host/simd/lanes/registers.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS {

/// Runs a section whose numbers are written out. `Frame` gives the first element of a buffer: `data<Buffer>()`.
template <class Program, section_id Section> class straight_steps {
  using steps = direct_steps<Program, Section>;
  using buffers = straight_buffers<Program, Section>;

 public:
  template <class Frame> static PARALLAX_INLINE void run(Frame& where) {
    run_all(where, std::make_index_sequence<index_of(steps::count)>{});
  }

 private:
  template <class Frame, std::size_t... I>
  static PARALLAX_INLINE void run_all([[maybe_unused]] Frame& where, std::index_sequence<I...>) {
    (run_one<steps::all[I].kind, steps::all[I].index>(where), ...);
  }
  template <step_kind Kind, int Index, class Frame> static PARALLAX_INLINE void run_one(Frame& where) {
    if constexpr (Kind == step_kind::kernel) straight_loop<Program, Index>::run(where);
    else if constexpr (Kind == step_kind::scan)
      straight_loop_step<Program, scan_step, Index, Frame>::run_scan(
          where, Program::plan.template at<scan_step>(Index).count.number());
    else if constexpr (Kind == step_kind::while_loop)
      straight_loop_step<Program, while_step, Index, Frame>::run_while(where);
    else if constexpr (Kind == step_kind::cond) straight_cond<Program, Index, Frame>::run(where);
    else {
      static_assert(Kind == step_kind::product);
      run_product<Index>(where);
    }
  }
  template <int Index> static constexpr product_step product_at = Program::plan.template at<product_step>(Index);
  template <int Index>
  static constexpr std::size_t product_count = [] {
    std::size_t products = 1;
    for (dim extent : Program::plan[product_at<Index>.batch]) products *= index_of(extent.number());
    return products;
  }();
  /// The offset of an operand of product number `number` of a batch.
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
  template <int Index, class Frame> static PARALLAX_INLINE void run_product(Frame& where) {
    run_products<Index>(where, std::make_index_sequence<product_count<Index>>{});
  }
  template <int Index, class Frame, std::size_t... Number>
  static PARALLAX_INLINE void run_products(Frame& where, std::index_sequence<Number...>) {
    (run_matrix<Index, Number>(where), ...);
  }
  template <int Index, std::size_t Number, class Frame> static PARALLAX_INLINE void run_matrix(Frame& where) {
    constexpr const product_step& step = product_at<Index>;
    constexpr std::int64_t left = product_offset<Index>(Number, step.left_offset, step.left_batch),
                           right = product_offset<Index>(Number, step.right_offset, step.right_batch);
    constexpr int rows = static_cast<int>(step.rows.number()), columns = static_cast<int>(step.columns.number()),
                  depth = static_cast<int>(step.depth.number());
    using T = typename buffers::template element_of<static_cast<int>(step.result)>;
    small_product<T, rows, columns, depth>(
        where.template data<static_cast<int>(step.left)>() + left,
        where.template data<static_cast<int>(step.right)>() + right,
        where.template data<static_cast<int>(step.result)>() + Number * std::size_t{rows * columns},
        {step.left_row.number(), step.left_depth.number(), step.right_depth.number(), step.right_column.number()});
  }
};

/// Calls a program whose numbers are written out.
template <class Program> struct straight_call {
  /// `values` are the first elements of the arguments, `outputs` of the results.
  static PARALLAX_INLINE void run(const std::byte* const* values, std::byte* const* outputs) {
    straight_frame<Program> where{values, outputs, {}};
    straight_steps<Program, section_id::main>::run(where);
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS

// Questions about a planned loop: which operation it computes, of which operands.
#pragma once

#include <parallax/compile/plan/plan.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_algorithms.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/version.hpp>
#include <parallax/primitives/building/catalogue.hpp>

#include <bit>
#include <optional>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// A step that runs a kernel, and the kernel. Statements that do not exist are -1, and answer no to every question.
class kernel_match {
 public:
  static constexpr int nothing = -1;

  constexpr kernel_match(dim_table& table, const plan_builder& records, step_record of)
      : extents(table),
        plan(records),
        step(plan.at<kernel_step>(of.index)),
        kernel(plan.at<kernel_record>(static_cast<int>(step.kernel))) {}

  constexpr plain_span<const kernel_statement> statements() const { return plan[kernel.statements]; }
  constexpr const operand_record& array(int number) const { return plan[step.operands][index_of(number)]; }
  constexpr const operand_record& written() const { return array(0); }
  /// Where a statement loads from.
  constexpr const operand_record& loaded(int statement) const { return array(at(statement).argument); }
  template <class Primitive> constexpr bool is(int statement) const {
    return computes(statement) && at(statement).primitive == primitives::id_of<Primitive>;
  }
  /// The statement that computes an operand of an operation.
  constexpr int operand(int statement, int number) const {
    return computes(statement) ? at(statement).operands[number] : nothing;
  }
  /// The statement whose values a plain loop writes as its result.
  constexpr int result() const {
    if (kernel.result != kernel_result::vector || kernel.reduction != primitive_id::input) return nothing;
    int last = kernel.statements.count - 1;
    while (is<primitives::stop_gradient>(last)) last = operand(last, 0);
    return last;
  }
  /// Whether a constant is 0.
  constexpr bool is_zero(int statement) const {
    if (!is_kind(statement, statement_kind::load_constant)) return false;
    const kernel_constant& c = plan[step.constants][index_of(at(statement).argument)];
    return c.kind == constant_kind::literal && c.bits == 0;
  }
  /// A constant that is known while compiling, of a floating type.
  constexpr std::optional<double> number(int statement) const {
    if (!is_kind(statement, statement_kind::load_constant)) return std::nullopt;
    const kernel_constant& c = plan[step.constants][index_of(at(statement).argument)];
    if (c.kind != constant_kind::literal || !has_double_literal(c.type)) return std::nullopt;
    return std::bit_cast<double>(c.bits);
  }
  /// Whether there are further results.
  constexpr bool stores() const {
    return plain::any_of(statements(), [](const kernel_statement& each) { return is_store(each.kind); });
  }

  /// Whether the loop does nothing but copy an array from its first element on.
  constexpr bool is_copy() const {
    return kernel.statements.count == 1 && is_load(at(0).kind) && at(0).kind != statement_kind::load_constant &&
           loaded(0).buffer != buffer_id::none && loaded(0).offset == 0;
  }
  /// Finds the loop's dimension that has `count` elements, `apart` from each other in the copied array. Sets `place` to
  /// their distance in the result, and counts the dimension. If `count` is 1, there is nothing to find. False if there
  /// is no such dimension.
  constexpr bool find_copied(dim count, dim apart, dim& place, int& dimensions) const {
    if (count == 1) return true;
    for (int d = 0; d < rank(); ++d) {
      if (!(extent(d) == count) || !(stride(loaded(0), d) == apart)) continue;
      place = stride(written(), d);
      ++dimensions;
      return true;
    }
    return false;
  }
  constexpr int rank() const { return step.extents.count; }

  /// Whether an operand is a contiguous array from its first element on, in the loop's order.
  constexpr bool is_whole(const operand_record& a) const { return is_contiguous(a) && a.offset == 0; }
  /// Whether an operand is contiguous in the loop's order, at any offset.
  constexpr bool is_contiguous(const operand_record& a) const {
    dim stride{1};
    for (int d = rank(); d-- > 0;) {
      if (!(this->stride(a, d) == stride)) return false;
      stride = extents.multiply(stride, extent(d));
    }
    return a.buffer != buffer_id::none;
  }
  /// Whether an operand is the same element everywhere.
  constexpr bool is_one(const operand_record& a) const {
    for (int d = 0; d < rank(); ++d)
      if (!(stride(a, d) == 0)) return false;
    return a.buffer != buffer_id::none;
  }
  /// Whether all operands of a plain loop without gathers are contiguous arrays, from wherever they begin, or scalars.
  constexpr bool is_flat() const {
    if (kernel.result != kernel_result::vector || kernel.reduction != primitive_id::input) return false;
    if (!plain::all_of(statements(), [](const kernel_statement& each) {
          return each.kind == statement_kind::compute || each.kind == statement_kind::load_vector ||
                 each.kind == statement_kind::load_scalar || each.kind == statement_kind::load_constant ||
                 each.kind == statement_kind::store_vector;
        }))
      return false;
    return plain::all_of(plan[step.operands], [&](const operand_record& a) { return is_contiguous(a) || is_one(a); }) &&
           is_contiguous(written());
  }
  /// Whether the loop is a reduction, but not argmax or argmin, and gathers nothing.
  constexpr bool is_reduction() const {
    return kernel.result == kernel_result::reduction && kernel.reduction != primitives::id_of<primitives::argmax> &&
           kernel.reduction != primitives::id_of<primitives::argmin> &&
           plain::all_of(statements(), [](const kernel_statement& each) { return !is_gather(each.kind); });
  }
  /// Whether the loop writes a buffer: as its result, or as a further one.
  constexpr bool writes(buffer_id buffer) const {
    if (written().buffer == buffer) return true;
    return plain::any_of(statements(), [&](const kernel_statement& each) {
      return (is_store(each.kind) || is_scatter(each.kind)) && array(each.argument).buffer == buffer;
    });
  }

  /// Whether the loop goes over `count` elements.
  constexpr bool covers(dim count) const {
    dim all{1};
    for (dim extent : plan[step.extents]) all = extents.multiply(all, extent);
    return all == count;
  }
  /// The buffer of an array that a statement loads whole, in the loop's order; otherwise `none`.
  constexpr buffer_id load_of_whole(int statement) const {
    const bool loads = is_kind(statement, statement_kind::load_vector) && is_whole(loaded(statement));
    return loads ? loaded(statement).buffer : buffer_id::none;
  }
  /// The operand of a statement that loads one row of `columns` elements for all rows of a matrix; otherwise null.
  constexpr const operand_record* load_of_row(int statement, dim columns) const {
    if (!is_kind(statement, statement_kind::load_vector) || row_dimensions(loaded(statement), columns) == 0)
      return nullptr;
    return &loaded(statement);
  }
  /// Whether the loop adds up the rows of a contiguous matrix.
  constexpr bool adds_rows(buffer_id array, dim rows, dim columns) const {
    if (kernel.result != kernel_result::reduction || kernel.statements.count != 1 || load_of_whole(0) != array)
      return false;
    if (kernel.reduction != primitives::id_of<primitives::reduce_sum>) return false;
    const int kept = row_dimensions(written(), columns);
    if (kept == 0 || kept == rank() || step.reduced.bits != (1U << (rank() - kept)) - 1) return false;
    dim reduced{1};
    for (int d = 0; d < rank() - kept; ++d) reduced = extents.multiply(reduced, extent(d));
    return written().offset == 0 && reduced == rows;
  }

 private:
  dim_table& extents;
  const plan_builder& plan;
  const kernel_step& step;
  const kernel_record& kernel;

  constexpr const kernel_statement& at(int statement) const { return statements()[index_of(statement)]; }
  constexpr bool is_kind(int statement, statement_kind kind) const {
    return statement >= 0 && at(statement).kind == kind;
  }
  constexpr bool computes(int statement) const { return is_kind(statement, statement_kind::compute); }
  constexpr dim extent(int d) const { return plan[step.extents][index_of(d)]; }
  constexpr dim stride(const operand_record& a, int d) const { return plan[a.strides][index_of(d)]; }

  /// The number of innermost dimensions that go over a contiguous row of `columns` elements, if all other strides are
  /// 0; otherwise 0.
  constexpr int row_dimensions(const operand_record& a, dim columns) const {
    dim walked{1};
    int d = rank();
    while (d > 0 && !(walked == columns) && stride(a, d - 1) == walked) walked = extents.multiply(walked, extent(--d));
    if (!(walked == columns)) return 0;
    for (int outer = 0; outer < d; ++outer)
      if (!(stride(a, outer) == 0)) return 0;
    return rank() - d;
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::detail

// Questions about a planned loop: what it computes from what.
#pragma once

#include <parallax/compile/plan.hpp>

namespace parallax::detail {

/// A step that runs a kernel, and the kernel. Statements that do not exist are -1, and answer no to every question.
struct kernel_match {
  dim_table& extents;
  const kernel_structure& kernel;
  const planned_step& step;

  static constexpr int nothing = -1;
  constexpr const kernel_statement& at(int statement) const {
    return kernel.statements[static_cast<std::size_t>(statement)];
  }
  constexpr const access& access_of(int statement) const {
    return step.accesses[static_cast<std::size_t>(at(statement).operands[0])];
  }
  constexpr bool is(int statement, int operation) const {
    return statement >= 0 && at(statement).operation == operation;
  }
  /// The statement that an operation's operand is.
  constexpr int operand(int statement, int number) const {
    return statement < 0 || at(statement).operation < 0 ? nothing : at(statement).operands[number];
  }
  /// The statement whose values a plain loop writes as its result.
  constexpr int result() const {
    if (kernel.result != kernel_result::vector || kernel.reduction >= 0) return nothing;
    int last = static_cast<int>(kernel.statements.size()) - 1;
    while (is(last, primitives::number_of<primitives::stop_gradient>)) last = operand(last, 0);
    return last;
  }
  /// Whether a constant is 0.
  constexpr bool is_zero(int statement) const {
    if (!is(statement, load_constant)) return false;
    const kernel_constant& c = step.constants[static_cast<std::size_t>(at(statement).operands[0])];
    return c.kind == constant_kind::literal && c.value == 0;
  }

  /// Whether an access goes over a contiguous array as the loop does.
  constexpr bool is_whole(const access& a) const {
    dim stride = 1;
    for (int d = step.extents.size(); d-- > 0;) {
      if (a.strides[d] != stride) return false;
      stride = extents.multiply(stride, step.extents[d]);
    }
    return a.buffer >= 0 && a.offset == 0;
  }
  /// Whether the loop goes over as many elements.
  constexpr bool covers(dim count) const { return extents.product(step.extents) == count; }
  /// The buffer that a statement loads from in such a way; -1 for none.
  constexpr int load_of_whole(int statement) const {
    return is(statement, load_vector) && is_whole(access_of(statement)) ? access_of(statement).buffer : nothing;
  }
  /// The number of dimensions that walk a contiguous row of so many elements, while the others stand still; 0 for none.
  constexpr int row_dimensions(const access& a, dim columns) const {
    dim stride = 1;
    int d = step.extents.size();
    while (d > 0 && stride != columns && a.strides[d - 1] == stride)
      stride = extents.multiply(stride, step.extents[--d]);
    if (stride != columns) return 0;
    for (int outer = 0; outer < d; ++outer)
      if (a.strides[outer] != 0) return 0;
    return step.extents.size() - d;
  }
  /// Where a statement loads the same row from for all rows of a matrix; null for none.
  constexpr const access* load_of_row(int statement, dim columns) const {
    if (!is(statement, load_vector) || row_dimensions(access_of(statement), columns) == 0) return nullptr;
    return &access_of(statement);
  }
  /// Whether the loop adds up the rows of a contiguous matrix.
  constexpr bool adds_rows(int array, dim rows, dim columns) const {
    if (kernel.result != kernel_result::reduction || kernel.statements.size() != 1 || load_of_whole(0) != array)
      return false;
    if (kernel.reduction != primitives::number_of<primitives::reduce_sum>) return false;
    const int kept = row_dimensions(step.accesses[0], columns), rank = step.extents.size();
    if (kept == 0 || kept == rank || step.reduced != (1U << (rank - kept)) - 1) return false;
    dim reduced = 1;
    for (int d = 0; d < rank - kept; ++d) reduced = extents.multiply(reduced, step.extents[d]);
    return step.accesses[0].offset == 0 && reduced == rows;
  }
};

} // namespace parallax::detail

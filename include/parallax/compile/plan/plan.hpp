// A program while it is planned: its records, and what is known of a section's buffers besides.
#pragma once

#include <parallax/compile/fuse/loop.hpp>
#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/support/plain_algorithms.hpp>
#include <parallax/core/version.hpp>
#include <parallax/program/plan.hpp>

#include <algorithm>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// A buffer, and the steps that it is used in.
struct planned_buffer {
  buffer_record record{};
  int first_step = -1, last_step = -1;
};

/// A section while it is planned.
struct planned_section {
  table<buffer_id, planned_buffer> buffers{};
  growing_vector<step_record> steps{};
  growing_vector<output_record> outputs{};
  int argument_count = 0, value_count = 0, slot_count = 0;
};

/// The number of a loop's kernel in the program; equal kernels have one number.
constexpr kernel_id add_kernel(plan_builder& plan, const planned_loop& loop) {
  for (int i = 0; i < plan.size<kernel_record>(); ++i) {
    const kernel_record& known = plan.at<kernel_record>(i);
    if (known.result != loop.result || known.reduction != loop.reduction) continue;
    if (plain::equal(plan[known.statements], loop.statements)) return kernel_id{i};
  }
  return kernel_id{plan.add(kernel_record{plan.add_list(loop.statements), loop.result, loop.reduction})};
}

/// Writes a loop down as a step.
constexpr step_record add_loop(plan_builder& plan, const planned_loop& loop) {
  const growing_vector<operand_record> operands = vector_of(
      loop.accesses, [&](const access& a) { return operand_record{a.buffer, a.offset, plan.add_list(a.strides)}; });
  return {step_kind::kernel, plan.add(kernel_step{add_kernel(plan, loop), loop.reduced, plan.add_list(loop.extents),
                                                  plan.add_list(operands), plan.add_list(loop.constants)})};
}

/// Whether a step reads or writes a buffer, or passes it on.
constexpr bool touches(const plan_builder& plan, step_record step, buffer_id buffer) {
  bool found = false;
  visit_buffers(plan, step, [&](buffer_id used) { found = found || used == buffer; });
  return found;
}

} // namespace parallax::PARALLAX_INLINE_VERSION::detail

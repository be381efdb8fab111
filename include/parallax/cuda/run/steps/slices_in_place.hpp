// The slices of a scan's stacked arrays that are read and written in place if the device counts the rounds itself:
// kernels add the round's offset to an address, but libraries and users' functions need fixed addresses.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>
#include <parallax/cuda/names.hpp>
#include <parallax/program/section_steps.hpp>

#include <cstddef>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// Whether a kernel's operands may move from round to round. Operands of sorts, scatters and cumulative kernels pass
/// through memory of their own.
constexpr bool may_move(const kernel_record& kernel) {
  switch (kernel.result) {
  case kernel_result::vector:
  case kernel_result::strided:
  case kernel_result::reduction:
  case kernel_result::rows: return true;
  case kernel_result::cumulative:
  case kernel_result::reverse_cumulative:
  case kernel_result::sorted:
  case kernel_result::scattered: return false;
  }
  return false;
}

/// Whether only kernels that may move use a buffer of a section.
template <class Plan> constexpr bool moves(const Plan& plan, section_id section, buffer_id buffer) {
  bool may = true;
  auto look = [&](const step_record& step) {
    visit_buffers(plan, step, [&](buffer_id used) {
      if (used != buffer) return;
      may =
          may && step.kind == step_kind::kernel &&
          may_move(plan.template at<kernel_record>(static_cast<int>(plan.template at<kernel_step>(step.index).kernel)));
    });
  };
  for (const step_record& step : plan[plan.section(section).steps]) {
    if (step.kind != step_kind::launch_batch) look(step);
    else
      for (const step_record& part : plan[plan.template at<launch_batch_step>(step.index).parts]) look(part);
  }
  return may;
}

/// Calls `f` with the buffers that are argument, or output, number `number` of a body.
template <class Plan, class F>
constexpr void for_each_buffer(const Plan& plan, section_id body, buffer_kind kind, std::size_t number, const F& f) {
  int next = 0;
  for (const buffer_record& each : plan[plan.section(body).buffers]) {
    const buffer_id buffer{next++};
    if (each.kind == kind && index_of(each.number) == number) f(buffer);
  }
}
template <class Plan>
constexpr bool is_in_place(const Plan& plan, section_id body, buffer_kind kind, std::size_t number) {
  bool all = true;
  for_each_buffer(plan, body, kind, number, [&](buffer_id buffer) { all = all && moves(plan, body, buffer); });
  return all;
}

/// A stacked array of a scan, whose body gets slices of it.
struct stacked_array {
  buffer_kind kind;   ///< the body's argument (a value), or its output
  std::size_t number; ///< of the argument or output
  buffer_id buffer;   ///< the whole array, in the scan's section
  dim slice_elements;
  bool in_place;
};
/// Calls `f` with each stacked array of a scan, operands first.
template <class Plan, class F>
constexpr void for_each_stacked_array(const Plan& plan, const scan_step& loop, const F& f) {
  std::size_t number = 0;
  for (const scan_operand& x : plan[loop.operands]) {
    if (x.role == scan_role::stacked)
      f(stacked_array{buffer_kind::bound, number, x.buffer, x.slice,
                      is_in_place(plan, loop.body, buffer_kind::bound, number)});
    ++number;
  }
  number = 0;
  for (const scan_result& y : plan[loop.results]) {
    if (y.other == buffer_id::none)
      f(stacked_array{buffer_kind::output, number, y.buffer, y.slice,
                      is_in_place(plan, loop.body, buffer_kind::output, number)});
    ++number;
  }
}

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda

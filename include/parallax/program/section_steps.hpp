// The steps of a section, and facts about all sections that it runs.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>
#include <parallax/program/plan.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::compiled {

/// Calls `f` with a step; if it has parts, with these instead.
template <class Plan, class F> constexpr void for_each_part(const Plan& plan, const step_record& step, const F& f) {
  const auto of_all = [&](record_list<step_record> parts) {
    for (const step_record& part : plan[parts]) for_each_part(plan, part, f);
  };
  switch (step.kind) {
  case step_kind::epilogue: return of_all(plan.template at<epilogue_step>(step.index).parts);
  case step_kind::accumulation: return of_all(plan.template at<accumulation_step>(step.index).parts);
  case step_kind::placed_product: return of_all(plan.template at<placed_product_step>(step.index).parts);
  case step_kind::launch_batch: return of_all(plan.template at<launch_batch_step>(step.index).parts);
  case step_kind::kernel:
  case step_kind::product:
  case step_kind::exchange:
  case step_kind::axis_slice:
  case step_kind::mapped_section:
  case step_kind::scan:
  case step_kind::while_loop:
  case step_kind::cond:
  case step_kind::ffi: return f(step);
  }
}

/// Calls `f` with each step; if a step has parts, with these instead.
template <class Plan, class F>
constexpr void for_each_step(const Plan& plan, record_list<step_record> steps, const F& f) {
  for (const step_record& step : plan[steps]) for_each_part(plan, step, f);
}
template <class Plan, class F> constexpr void for_each_step(const Plan& plan, section_id section, const F& f) {
  for_each_step(plan, plan.section(section).steps, f);
}

/// Calls `f` with each of these steps that uses a buffer of the section.
template <class Plan, class F>
constexpr void for_each_step_using(const Plan& plan, section_id section, buffer_id buffer, const F& f) {
  for_each_step(plan, section, [&](const step_record& step) {
    bool is_user = false;
    visit_buffers(plan, step, [&](buffer_id used) { is_user = is_user || used == buffer; });
    if (is_user) f(step);
  });
}

/// The product that the parts of an epilogue, an accumulation or a placed product begin with.
template <class Plan, class Step> constexpr const product_step& product_of(const Plan& plan, const Step& whole) {
  const step_record first = plan[whole.parts][0];
  if (first.kind == step_kind::epilogue) return product_of(plan, plan.template at<epilogue_step>(first.index));
  return plan.template at<product_step>(first.index);
}

/// Calls `f` with the sections that a step runs where its own section runs.
template <class Plan, class F> constexpr void for_each_body(const Plan& plan, const step_record& step, const F& f) {
  switch (step.kind) {
  case step_kind::scan: return f(plan.template at<scan_step>(step.index).body);
  case step_kind::while_loop: {
    const while_step& loop = plan.template at<while_step>(step.index);
    f(loop.predicate), f(loop.body);
    return;
  }
  case step_kind::cond:
    for (section_id branch : plan[plan.template at<cond_step>(step.index).branches]) f(branch);
    return;
  case step_kind::kernel:
  case step_kind::product:
  case step_kind::epilogue:
  case step_kind::accumulation:
  case step_kind::placed_product:
  case step_kind::launch_batch:
  case step_kind::exchange:
  case step_kind::axis_slice:
  case step_kind::ffi:
  case step_kind::mapped_section: return;
  }
}

/// Whether a section and what it runs are kernels, products and users' functions only: nothing that needs other
/// devices.
template <class Plan> constexpr bool needs_no_devices(const Plan& plan, section_id section) {
  bool none = true;
  for_each_step(plan, section, [&](const step_record& step) {
    switch (step.kind) {
    case step_kind::kernel:
    case step_kind::product:
    case step_kind::ffi:
    case step_kind::epilogue:
    case step_kind::accumulation:
    case step_kind::placed_product:
    case step_kind::launch_batch: break;
    case step_kind::scan:
    case step_kind::while_loop:
    case step_kind::cond:
      for_each_body(plan, step, [&](section_id body) { none = none && needs_no_devices(plan, body); });
      break;
    case step_kind::exchange:
    case step_kind::axis_slice:
    case step_kind::mapped_section: none = false; break;
    }
  });
  return none;
}

/// Whether all extents of a section are known, those of loops' bodies and branches among them.
template <class Plan> constexpr bool has_static_extents(const Plan& plan, section_id section) {
  if (plan.template size<entry_record>() == 0) return true;
  bool known = true;
  auto look = [&](dim extent) { known = known && is_static(extent); };
  for (const buffer_record& buffer : plan[plan.section(section).buffers]) visit_extents(plan, buffer, look);
  for_each_step(plan, section, [&](const step_record& step) {
    visit_extents(plan, step, look);
    for_each_body(plan, step, [&](section_id body) { known = known && has_static_extents(plan, body); });
  });
  return known;
}

} // namespace parallax::PARALLAX_INLINE_VERSION::compiled

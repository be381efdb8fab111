// A program as it is lowered, for tests of what that decides.
#pragma once

#include <parallax/parallax.hpp>

#include <span>

namespace lowered {

namespace plan = parallax::detail;

/// The plan of a function on arguments of these types.
template <class Function, class... Arguments>
constexpr plan::plan_builder program(const Function&, const Arguments&...) {
  parallax::detail::context trace;
  static_cast<void>(plan::trace_program<Function, Arguments...>(trace));
  plan::plan_builder built;
  plan::lower(trace, built);
  return built;
}
constexpr int section_count(const plan::plan_builder& of) { return of.size<plan::section_record>(); }
constexpr const plan::section_record& section(const plan::plan_builder& of, int number) {
  return of.at<plan::section_record>(number);
}
constexpr const plan::section_record& main_section(const plan::plan_builder& of) { return section(of, 0); }
/// How many steps of a kind all sections have together; those that may run at once are counted, and so are their parts.
constexpr int step_count(const plan::plan_builder& of, parallax::compiled::step_kind kind) {
  using parallax::compiled::step_kind;
  int count = 0;
  for (int k = 0; k < section_count(of); ++k) {
    for (const auto& step : of[section(of, k).steps]) {
      count += step.kind == kind;
      if (step.kind != step_kind::launch_batch) continue;
      for (const auto& part : of[of.at<parallax::compiled::launch_batch_step>(step.index).parts])
        count += part.kind == kind;
    }
  }
  return count;
}
/// Memory for intermediates, in all sections.
constexpr int slot_count(const plan::plan_builder& of) {
  int count = 0;
  for (int k = 0; k < section_count(of); ++k) count += section(of, k).slot_count;
  return count;
}

} // namespace lowered

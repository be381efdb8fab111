// The groups of devices that meet in the exchanges of a section, and the cliques of those that are in several
// processes.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>
#include <parallax/cuda/devices/backend.hpp>
#include <parallax/cuda/devices/mesh.hpp>
#include <parallax/cuda/names.hpp>
#include <parallax/program/section_steps.hpp>

#include <vector>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// Whether an exchange has members in other processes.
template <device_api Api> bool exchange_crosses(const mesh<Api>& all, const exchange_step& step) {
  return !step.is_of_process && all.crosses_processes(step.axes.bits);
}
/// The groups along an exchange's axes, divided into parts if the step has any.
template <device_api Api>
std::vector<std::vector<int>> groups_of(const plan_view& plan, const mesh<Api>& all, const exchange_step& step) {
  std::vector<std::vector<int>> whole = all.groups(step.axes.bits, exchange_crosses(all, step));
  if (step.groups.empty()) return whole;
  std::vector<std::vector<int>> parts;
  for (const std::vector<int>& group : whole)
    for (const group_record& part : plan[step.groups]) {
      parts.emplace_back();
      for (int index : plan[part.members]) parts.back().push_back(group[index_of(index)]);
    }
  return parts;
}
/// Creates the cliques of all exchanges between processes in a section, in one order on every process, since processes
/// may reach exchanges in different orders or not at all.
template <device_api Api>
void make_cliques(backend<Api>& owner, const plan_view& plan, const mesh<Api>& all, section_id section) {
  for_each_step(plan, section, [&](const step_record& step) {
    for_each_body(plan, step, [&](section_id body) { make_cliques(owner, plan, all, body); });
    if (step.kind != step_kind::exchange) return;
    const exchange_step& exchange = plan.at<exchange_step>(step.index);
    if (!exchange_crosses(all, exchange)) return;
    std::vector<std::vector<int>> groups = groups_of(plan, all, exchange);
    std::erase_if(groups, [](const std::vector<int>& group) { return group.size() == 1; });
    if (!groups.empty()) owner.cliques_of(all, true, groups);
  });
}

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda

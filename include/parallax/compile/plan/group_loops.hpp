// Loops that need nothing of one another become one step, which a device launches as one.
#pragma once

#include <parallax/compile/plan/match_kernel.hpp>
#include <parallax/compile/plan/start_early.hpp>
#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_algorithms.hpp>
#include <parallax/core/version.hpp>

#include <algorithm>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// Moves each elementwise loop over contiguous arrays and scalars up next to an earlier independent one, unless a step
/// in between must come first: the updates of a tree of parameters, above all. Reductions are moved likewise.
class loop_grouper {
 public:
  /// Kernels of one launch are compiled together, and take the registers of the one that needs most. A launch's
  /// arguments grow with the operands of its loops.
  static constexpr int most_kernels = 4, most_operands = 24;
  static constexpr std::int64_t most_kept_longer = 1024; ///< elements of a slot

  constexpr loop_grouper(dim_table& table, plan_builder& records, planned_section& of)
      : extents(table),
        plan(records),
        section(of),
        kinds(count()),
        place(count()),
        touched_by(section.buffers.size()) {}

  constexpr void run() {
    int able = 0;
    for_each(place.ids(), [&](step_id s) {
      kinds[s] = kind_of(s);
      able += kinds[s] != group_kind::none ? 1 : 0;
    });
    if (able < 2) return;
    bool any = false;
    for_each(place.ids(), [&](step_id s) {
      place[s] = kinds[s] != group_kind::none ? place_of(s) : s;
      any = any || place[s] != s;
      last_place = std::max(last_place, place[s]);
      if (step(s).kind == step_kind::mapped_section) last_call = s; // a call's results are no buffers
      visit_buffers(plan, step(s), [&](buffer_id used) { touched_by[used].push_back(s); });
    });
    for_each(place.ids(), [&](step_id s) {
      if (kinds[s] == group_kind::elementwise && place[s] == s && is_one_element(s)) any = sink(s) || any;
    });
    if (any) gather();
  }

 private:
  enum class group_kind : char { none, elementwise, reduction };
  /// Steps that become one, at the place of the first.
  struct group {
    step_id first;
    growing_vector<kernel_id> kernels;
    int members = 1;
  };

  dim_table& extents;
  plan_builder& plan;
  planned_section& section;
  table<step_id, group_kind> kinds;
  table<step_id, step_id> place; ///< the step where each one runs: itself, or the first of its group
  table<buffer_id, growing_vector<step_id>> touched_by; ///< by buffer: the placed steps that use it
  growing_vector<group> groups;
  step_id last_place = step_id::none, last_call = step_id::none;

  constexpr int count() const { return count_of(section.steps); }
  constexpr step_record step(step_id s) const { return section.steps[index_of(s)]; }
  constexpr kernel_id kernel_of(step_id s) const { return plan.at<kernel_step>(step(s).index).kernel; }

  constexpr group_kind kind_of(step_id s) const {
    if (step(s).kind != step_kind::kernel || plan.at<kernel_step>(step(s).index).operands.count > most_operands)
      return group_kind::none;
    const kernel_match loop(extents, plan, step(s));
    return loop.is_flat() ? group_kind::elementwise : loop.is_reduction() ? group_kind::reduction : group_kind::none;
  }
  /// Whether a step may write a buffer that it uses; steps other than loops may write any.
  constexpr bool may_write(step_id s, buffer_id used) const {
    return step(s).kind != step_kind::kernel || kernel_match(extents, plan, step(s)).writes(used);
  }
  /// Whether a loop writes a slot's buffer that is not small. Other buffers have the slot's memory before or after.
  constexpr bool takes_slot(step_id s) const {
    bool takes = false;
    visit_buffers(plan, step(s), [&](buffer_id used) {
      const buffer_record& of = section.buffers[used].record;
      const bool is_small = is_static(of.count) && of.count.number() <= most_kept_longer;
      takes = takes || (of.kind == buffer_kind::slot && !is_small && may_write(s, used));
    });
    return takes;
  }
  constexpr bool is_one_element(step_id s) const {
    return plan.at<kernel_step>(step(s).index).extents.empty() && !takes_slot(s);
  }
  /// Whether two steps that use a buffer have to keep their order.
  constexpr bool conflict(step_id a, step_id b, buffer_id used) const {
    return may_write(a, used) || may_write(b, used);
  }
  constexpr bool join(group& joined, step_id s) {
    const bool is_known = plain::contains(joined.kernels, kernel_of(s));
    if (kinds[joined.first] != kinds[s] || (!is_known && count_of(joined.kernels) == most_kernels)) return false;
    if (!is_known) joined.kernels.push_back(kernel_of(s));
    ++joined.members;
    return true;
  }
  /// The place of a loop: the last group behind all steps that it has to follow (the first such group for a loop of one
  /// element), or a new group. A loop that writes a slot goes up no further than the last step placed, since it would
  /// need the slot for longer.
  constexpr step_id place_of(step_id s) {
    step_id follows = last_call;
    visit_buffers(plan, step(s), [&](buffer_id used) {
      for (step_id before : touched_by[used])
        if (place[before] > follows && conflict(before, s, used)) follows = place[before];
    });
    if (takes_slot(s)) follows = std::max(follows, step_id{static_cast<int>(last_place) - 1});
    const bool is_first = is_one_element(s);
    for (std::size_t i = 0; i < groups.size(); ++i) {
      group& each = groups[is_first ? i : groups.size() - 1 - i];
      if (each.first > follows && join(each, s)) return each.first;
    }
    groups.push_back({s, {kernel_of(s)}});
    return s;
  }
  /// Moves a loop of one element that no other loop has joined down to the next group, if no step in between needs it.
  constexpr bool sink(step_id s) {
    step_id before = step_id{count()}; // the place that it has to stay before
    visit_buffers(plan, step(s), [&](buffer_id used) {
      for (step_id other : touched_by[used])
        if (place[other] > s && conflict(s, other, used)) before = std::min(before, place[other]);
    });
    for (step_id other : place.ids())
      if (other > s && step(other).kind == step_kind::mapped_section) before = std::min(before, other);
    for (group& each : groups) {
      if (each.first == s && each.members > 1) return false;
      if (each.first <= s || each.first >= before || !join(each, s)) continue;
      place[s] = each.first;
      return true;
    }
    return false;
  }
  constexpr void gather() {
    table<step_id, growing_vector<step_record>> parts(count());
    for_each(place.ids(), [&](step_id s) { parts[place[s]].push_back(step(s)); });
    growing_vector<step_record> steps;
    for_each(place.ids(), [&](step_id s) {
      if (parts[s].empty()) return;
      if (parts[s].size() == 1) return steps.push_back(step(s));
      steps.push_back({step_kind::launch_batch, plan.add(launch_batch_step{plan.add_list(parts[s])})});
    });
    section.steps = std::move(steps);
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::detail

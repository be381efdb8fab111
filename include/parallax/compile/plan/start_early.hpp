// Collectives that reduce start as soon as their operand is there: a device may compute on while they run.
#pragma once

#include <parallax/compile/plan/plan.hpp>
#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_algorithms.hpp>
#include <parallax/core/version.hpp>

#include <algorithm>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// A step of a section while its order is decided: its place in the list of steps.
enum class step_id : int { none = -1 };

/// Moves every all-reduce and reduce-scatter up to just after its operand is computed, and that computation, if it is a
/// fused loop, up to just after its inputs are ready: a gradient is reduced while the backward pass goes on. Other
/// collectives stay: a gathered array takes more memory than its operand.
class early_starter {
 public:
  constexpr early_starter(const plan_builder& records, planned_section& of)
      : plan(records), section(of), anchor(count()), stays(count()) {}

  constexpr void run() {
    for (step_id s : anchor.ids()) anchor[s] = s;
    bool moved = false;
    for_each(anchor.ids(), [&](step_id s) { moved = find_anchor(s) || moved; });
    if (moved) reorder();
  }

 private:
  const plan_builder& plan;
  planned_section& section;
  table<step_id, step_id> anchor; ///< the step behind which each one is moved, or itself
  id_set<step_id> stays;          ///< steps behind which a loop was moved

  constexpr int count() const { return count_of(section.steps); }
  constexpr step_record step(step_id s) const { return section.steps[index_of(s)]; }

  constexpr const exchange_step* reduction(step_id s) const {
    if (step(s).kind != step_kind::exchange) return nullptr;
    const exchange_step& exchange = plan.at<exchange_step>(step(s).index);
    const bool reduces = exchange.kind == exchange_kind::all_reduce || exchange.kind == exchange_kind::reduce_scatter;
    return reduces ? &exchange : nullptr;
  }
  /// The last step before `s` that touches one of these buffers.
  constexpr step_id last_touch_before(step_id s, const growing_vector<buffer_id>& buffers) const {
    for (int before = static_cast<int>(s) - 1; before >= 0; --before)
      if (plain::any_of(buffers, [&](buffer_id b) { return touches(plan, step(step_id{before}), b); }))
        return step_id{before};
    return step_id::none;
  }
  /// Sets the anchors of a reduction and of its producer; false if the reduction stays.
  constexpr bool find_anchor(step_id s) {
    const exchange_step* exchange = reduction(s);
    if (!exchange) return false;
    const step_id producer = last_touch_before(s, {exchange->source});
    if (producer == step_id::none) return false; // of an argument
    anchor[s] = producer;
    if (step(producer).kind != step_kind::kernel || stays.contains(producer)) return true;
    growing_vector<buffer_id> buffers;
    visit_buffers(plan, step(producer), [&](buffer_id buffer) { buffers.push_back(buffer); });
    // a loop may move up behind a step only if that step stays where it is
    const step_id before = last_touch_before(producer, buffers);
    if (before == step_id::none || anchor[before] != before) return true;
    anchor[producer] = before;
    stays.insert(before);
    return true;
  }
  /// Puts each moved step behind its anchor, which may have moved too.
  constexpr void reorder() {
    table<step_id, growing_vector<step_id>> behind(count());
    for_each(anchor.ids(), [&](step_id s) {
      if (anchor[s] != s) behind[anchor[s]].push_back(s);
    });
    growing_vector<step_record> ordered;
    for_each(anchor.ids(), [&](step_id s) {
      if (anchor[s] != s) return;
      growing_vector<step_id> rest{s};
      while (!rest.empty()) {
        const step_id next = rest.back();
        rest.pop_back();
        ordered.push_back(step(next));
        for (int i = count_of(behind[next]); i-- > 0;) rest.push_back(behind[next][index_of(i)]);
      }
    });
    section.steps = std::move(ordered);
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::detail

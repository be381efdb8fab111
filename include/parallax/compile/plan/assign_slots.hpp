// Memory for the intermediate results of a section.
#pragma once

#include <parallax/compile/plan/start_early.hpp>
#include <parallax/core/growing_vector.hpp>
#include <parallax/core/ids.hpp>

#include <algorithm>

namespace parallax::detail {

/// Buffers that are not live at the same time share a slot; a slot is as large as the largest of them.
class slot_assigner {
 public:
  constexpr slot_assigner(const plan_builder& records, planned_section& of) : plan(records), section(of) {}

  constexpr void run() {
    find_lifetimes();
    // by step: the buffers that it is first to use
    growing_vector<growing_vector<buffer_id>> beginning(section.steps.size());
    for_each(section.buffers.ids(), [&](buffer_id id) {
      const planned_buffer& b = section.buffers[id];
      if (b.record.kind == buffer_kind::slot && b.first_step >= 0) beginning[index_of(b.first_step)].push_back(id);
    });
    for (int s = 0; s <= last_step(); ++s) for_each(beginning[index_of(s)], [&](buffer_id id) { assign(id, s); });
    section.slot_count = count_of(holder);
  }

 private:
  const plan_builder& plan;
  planned_section& section;
  growing_vector<buffer_id> holder; ///< by slot: the buffer in it

  constexpr step_record step(int s) const { return section.steps[index_of(s)]; }
  constexpr int last_step() const { return count_of(section.steps) - 1; }
  constexpr bool is_exchange(int s) const { return step(s).kind == step_kind::exchange; }

  /// Exchanges that follow each other may run together, in any order where none reads another's result.
  constexpr void find_lifetimes() {
    int begin = 0, end = -1; // the steps that may run together with this one
    for (int s = 0; s <= last_step(); ++s) {
      if (s > end) {
        begin = end = s;
        while (is_exchange(s) && end < last_step() && is_exchange(end + 1)) ++end;
      }
      visit_buffers(plan, step(s), [&](buffer_id id) {
        planned_buffer& b = section.buffers[id];
        if (b.first_step < 0) b.first_step = begin;
        b.last_step = std::max(b.last_step, end);
      });
      if (is_exchange(s)) keep_until_wanted(s);
    }
  }
  /// An exchange may run at any time until a step wants its result: until then its operand is live too.
  constexpr void keep_until_wanted(int s) {
    const exchange_step& exchange = plan.at<exchange_step>(step(s).index);
    int until = s + 1;
    while (until <= last_step() && !touches(plan, step(until), exchange.result)) ++until;
    int& last = section.buffers[exchange.source].last_step;
    last = std::max(last, std::min(until, last_step()));
  }

  constexpr void assign(buffer_id id, int s) {
    planned_buffer& b = section.buffers[id];
    const int slot = find_slot(b.record, s);
    if (slot == count_of(holder)) holder.push_back(id);
    holder[index_of(slot)] = id;
    b.record.number = slot;
  }
  /// A slot whose buffer is dead: of the same size, or else the first that is large enough, or else a new one.
  constexpr int find_slot(const buffer_record& wanted, int s) const {
    int chosen = count_of(holder);
    for (int slot = 0; slot < count_of(holder); ++slot) {
      const planned_buffer& old = section.buffers[holder[index_of(slot)]];
      if (old.last_step >= s) continue;
      if (old.record.count == wanted.count && size_of(old.record.type) == size_of(wanted.type)) return slot;
      const bool holds =
          is_static(old.record.count) && is_static(wanted.count) && old.record.count.number() >= wanted.count.number();
      if (chosen == count_of(holder) && holds) chosen = slot;
    }
    return chosen;
  }
};

} // namespace parallax::detail

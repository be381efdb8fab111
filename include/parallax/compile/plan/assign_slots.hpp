// Memory for the intermediate results of a section.
#pragma once

#include <parallax/compile/plan/start_early.hpp>
#include <parallax/core/growing_vector.hpp>
#include <parallax/core/ids.hpp>
#include <parallax/core/plain_algorithms.hpp>

#include <algorithm>

namespace parallax::detail {

/// Buffers that are not live at the same time share a slot; a slot is as large as the largest of them. The result of an
/// elementwise loop takes over the slot of an operand that it reads last, element by element.
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
    int slot = dying_operand_slot(id, s);
    if (slot < 0) slot = find_slot(b.record, s);
    if (slot == count_of(holder)) holder.push_back(id);
    holder[index_of(slot)] = id;
    b.record.number = slot;
  }
  /// The slot of an operand of step s that nothing reads afterwards, and that has each element where buffer `id`, the
  /// step's result, has its own; -1 where there is none.
  constexpr int dying_operand_slot(buffer_id id, int s) const {
    if (step(s).kind != step_kind::kernel) return -1;
    const kernel_step& loop = plan.at<kernel_step>(step(s).index);
    const plain_span<const operand_record> operands = plan[loop.operands];
    if (!writes_one_result(loop) || operands[0].buffer != id) return -1;
    // A library may apply the loop while it computes a product: then that product alone may lie where the result does.
    const bool follows_product =
        plain::any_of(operands, [&](const operand_record& o) { return is_of_product(o.buffer); });
    for (const operand_record& o : operands.subspan(1)) {
      if (o.buffer == buffer_id::none || o.buffer == id) continue;
      const planned_buffer &old = section.buffers[o.buffer], &result = section.buffers[id];
      const bool dies = old.record.kind == buffer_kind::slot && old.first_step < s && old.last_step == s;
      const bool is_alike = old.record.count == result.record.count &&
                            size_of(old.record.type) == size_of(result.record.type) && result.first_step == s;
      if (!dies || !is_alike || (follows_product && !is_of_product(o.buffer))) continue;
      const bool lies_alike = plain::all_of(operands, [&](const operand_record& each) {
        return each.buffer != o.buffer ||
               (each.offset == operands[0].offset && plain::equal(plan[each.strides], plan[operands[0].strides]));
      });
      if (lies_alike && holder[index_of(old.record.number)] == o.buffer) return old.record.number;
    }
    return -1;
  }
  constexpr bool writes_one_result(const kernel_step& loop) const {
    const kernel_record& kernel = plan.at<kernel_record>(static_cast<int>(loop.kernel));
    return kernel.result == kernel_result::vector &&
           plain::all_of(plan[kernel.statements], [](const kernel_statement& each) {
             return !is_store(each.kind) && !is_gather(each.kind) && !is_scatter(each.kind);
           });
  }
  constexpr bool is_of_product(buffer_id id) const {
    if (id == buffer_id::none) return false;
    const int first = section.buffers[id].first_step;
    return first >= 0 && step(first).kind == step_kind::product;
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

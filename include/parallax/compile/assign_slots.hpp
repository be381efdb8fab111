// Memory for the intermediate results of a block.
#pragma once

#include <parallax/compile/start_early.hpp>

#include <algorithm>
#include <vector>

namespace parallax::detail {

/// Whether devices exchange values in a step. Such steps that follow each other may run together, in any order where
/// none reads another's result.
constexpr bool is_exchange(step_kind kind) {
  return kind == step_kind::all_reduce || kind == step_kind::all_gather || kind == step_kind::reduce_scatter ||
         kind == step_kind::all_to_all || kind == step_kind::permute || kind == step_kind::broadcast;
}

/// Buffers that are not live at the same time share a slot; a slot is as large as the largest of them. An exchange may
/// run at any time until a step wants its result: until then its operand is live too.
constexpr void assign_slots(planned_block& block) {
  auto at = [](int number) { return static_cast<std::size_t>(number); };
  const int count = static_cast<int>(block.steps.size());
  int begin = 0, end = -1; // the steps that may run together with this one
  for (int s = 0; s < count; ++s) {
    const planned_step& step = block.steps[at(s)];
    if (s > end) {
      begin = end = s;
      while (is_exchange(step.kind) && end + 1 < count && is_exchange(block.steps[at(end + 1)].kind)) ++end;
    }
    auto touch = [&](int number) {
      if (number < 0) return;
      planned_buffer& b = block.buffers[at(number)];
      if (b.first_step < 0) b.first_step = begin;
      b.last_step = std::max(b.last_step, end);
    };
    auto touch_all = [&](const planned_step& one) {
      touch(one.result);
      for (int operand : one.operands) touch(operand);
      for (const access& a : one.accesses) touch(a.buffer);
    };
    touch_all(step);
    for (const planned_step& part : step.parts) touch_all(part);
    if (is_exchange(step.kind)) {
      int until = s + 1;
      while (until < count && !touches(block.steps[at(until)], step.result)) ++until;
      for (int operand : step.operands)
        if (int& last = block.buffers[at(operand)].last_step; last < until) last = std::min(until, count - 1);
    }
  }
  std::vector<std::vector<int>> beginning(block.steps.size()); // by step: the buffers that it is the first to use
  for (int i = 0; i < static_cast<int>(block.buffers.size()); ++i)
    if (const planned_buffer& b = block.buffers[at(i)]; b.place == buffer_place::slot && b.first_step >= 0)
      beginning[at(b.first_step)].push_back(i);
  std::vector<int> holder; // by slot: the buffer in it
  for (int s = 0; s < count; ++s) {
    for (int i : beginning[at(s)]) {
      planned_buffer& b = block.buffers[at(i)];
      int chosen = -1;
      for (int slot = 0; slot < static_cast<int>(holder.size()); ++slot) {
        const planned_buffer& old = block.buffers[at(holder[at(slot)])];
        if (old.last_step >= s) continue;
        bool same = old.count == b.count && size_of(old.type) == size_of(b.type);
        bool holds = is_static(old.count) && is_static(b.count) && old.count >= b.count;
        if (same || (chosen < 0 && holds)) chosen = slot;
        if (same) break;
      }
      if (chosen < 0) {
        chosen = static_cast<int>(holder.size());
        holder.push_back(0);
      }
      holder[at(chosen)] = i;
      b.number = chosen;
    }
  }
  block.slot_count = static_cast<int>(holder.size());
}

} // namespace parallax::detail

// Collectives that reduce start as soon as their operand is there: a device may compute on while they run.
#pragma once

#include <parallax/compile/plan.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace parallax::detail {

/// Whether a step reads or writes a buffer.
constexpr bool touches(const planned_step& step, int buffer) {
  return step.result == buffer || std::ranges::find(step.operands, buffer) != step.operands.end() ||
         std::ranges::any_of(step.accesses, [&](const access& a) { return a.buffer == buffer; }) ||
         std::ranges::any_of(step.parts, [&](const planned_step& part) { return touches(part, buffer); });
}

/// The last step before `s` that touches one of these buffers; -1 for none.
constexpr int last_touch_before(const planned_block& block, int s, const std::vector<int>& buffers) {
  auto touches_any = [&](const planned_step& step) {
    return std::ranges::any_of(buffers, [&](int buffer) { return touches(step, buffer); });
  };
  for (--s; s >= 0 && !touches_any(block.steps[static_cast<std::size_t>(s)]);) --s;
  return s;
}

/// Moves each all-reduce and reduce-scatter to behind the step that computes its operand, and that step, where it is a
/// loop, to behind the last one before it that touches what it reads: a gradient is reduced while the backward pass
/// goes on. Other collectives stay: what they gather takes more memory than what they are given.
constexpr void start_reductions_early(planned_block& block) {
  const int count = static_cast<int>(block.steps.size());
  auto at = [](int number) { return static_cast<std::size_t>(number); };
  std::vector<int> anchor; // by step: the one that it is moved to behind, or itself
  for (int s = 0; s < count; ++s) anchor.push_back(s);
  std::vector<char> stays(block.steps.size(), 0); // what a loop was moved to behind
  bool moved = false;
  for (int s = 0; s < count; ++s) {
    const planned_step& step = block.steps[at(s)];
    if (step.kind != step_kind::all_reduce && step.kind != step_kind::reduce_scatter) continue;
    const int producer = last_touch_before(block, s, {step.operands[0]});
    if (producer < 0) continue; // of an argument
    anchor[at(s)] = producer;
    moved = true;
    if (block.steps[at(producer)].kind != step_kind::kernel || stays[at(producer)]) continue;
    std::vector<int> buffers;
    for (const access& a : block.steps[at(producer)].accesses)
      if (a.buffer >= 0) buffers.push_back(a.buffer);
    // a loop may stand behind steps other than the last one only where that keeps its own place
    const int before = last_touch_before(block, producer, buffers);
    if (before < 0 || anchor[at(before)] != before) continue;
    anchor[at(producer)] = before;
    stays[at(before)] = 1;
  }
  if (!moved) return;
  std::vector<std::vector<int>> behind(block.steps.size()); // by step
  for (int s = 0; s < count; ++s) behind[at(anchor[at(s)])].push_back(s);
  std::vector<int> order, rest; // those behind a step may have others behind them
  for (int s = 0; s < count; ++s) {
    if (anchor[at(s)] != s) continue;
    rest.assign(1, s);
    while (!rest.empty()) {
      const int next = rest.back();
      rest.pop_back();
      order.push_back(next);
      const std::vector<int>& followers = behind[at(next)];
      for (std::size_t k = followers.size(); k-- > 0;)
        if (followers[k] != next) rest.push_back(followers[k]);
    }
  }
  std::vector<planned_step> steps;
  for (int s : order) steps.push_back(std::move(block.steps[at(s)]));
  block.steps = std::move(steps);
}

} // namespace parallax::detail

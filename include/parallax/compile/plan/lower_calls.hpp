// Calls that preparation has left become steps that run other sections.
#pragma once

#include <parallax/compile/plan/section_planner.hpp>
#include <parallax/compile/plan/staying_carries.hpp>
#include <parallax/core/version.hpp>
#include <parallax/program/carry_ring.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

constexpr void section_planner::add_call(node_id call, section_id which, const growing_vector<int>& devices) {
  const mapped_section& called = *all[index_of(which)].inside;
  growing_vector<mapped_operand> operands;
  for (std::size_t k = 0; k < called.operands.size(); ++k) {
    const node_id operand = g.operand(call, static_cast<int>(k));
    spread_dimensions spread = called.operands[k];
    for (spread_dimension& s : spread) s.before = extent_before(operand, s.dimension);
    operands.push_back({buffer_of[operand], plan.add_list(spread)});
  }
  const growing_vector<value_id> results = vector_of(g.results_of(call), [&](node_id result) {
    buffer_of[result] = new_buffer(g.value(result), buffer_kind::bound, section.value_count);
    return value_id{section.value_count++};
  });
  add(step_kind::mapped_section,
      mapped_section_step{which, plan.add_list(operands), plan.add_list(results), plan.add_list(devices)});
}

constexpr growing_vector<scan_operand>
section_planner::loop_operands(node_id call, const growing_vector<scan_role>& roles, graph_id body) const {
  growing_vector<scan_operand> operands;
  for (std::size_t k = 0; k < roles.size(); ++k) {
    scan_operand operand{.buffer = buffer_of[g.operand(call, static_cast<int>(k))], .role = roles[k]};
    if (roles[k] == scan_role::stacked)
      operand.slice = trace.extents.product(trace.at(body).shape(trace.at(body).inputs[k]));
    operands.push_back(operand);
  }
  return operands;
}

/// The buffers of a loop's carries: a carry that stays has one, others have two. Carries that are handed on share
/// theirs.
constexpr growing_vector<scan_result> section_planner::carried_results(node_id call,
                                                                       const growing_vector<scan_role>& roles,
                                                                       section_id body, bool may_hand_on) {
  const graph_id number = all[index_of(body)].graph;
  const graph& rounds = trace.at(number);
  staying_carry stays(trace, rounds);
  growing_vector<scan_result> results;
  growing_vector<node_id> carries;
  for (std::size_t k = 0; k < roles.size(); ++k) {
    if (roles[k] != scan_role::carry) continue;
    const buffer_id own = own_buffer(g.results_of(call)[count_of(results)]);
    const bool does_stay = stays.find(rounds.inputs[k], results.size());
    results.push_back({.buffer = own, .other = does_stay ? own : buffer_id::none});
    carries.push_back(rounds.inputs[k]);
    if (!does_stay) continue;
    section_graph& planned = all[index_of(body)];
    planned.staying.push_back(rounds.inputs[k]);
    for (node_id reader : stays.readers) planned.kept.push_back(reader);
  }
  if (may_hand_on) hand_on(results, carries, body);
  for (std::size_t c = 0; c < results.size(); ++c)
    if (results[c].other == buffer_id::none)
      results[c].other = new_buffer(g.value(g.results_of(call)[static_cast<int>(c)]), buffer_kind::slot, -1);
  return results;
}

/// A carry whose next value is another carry is found in that carry's buffer, and not copied.
constexpr void section_planner::hand_on(growing_vector<scan_result>& results, const growing_vector<node_id>& carries,
                                        section_id body) {
  section_graph& planned = all[index_of(body)];
  const graph& rounds = trace.at(planned.graph);
  auto count = [&](node_id id) { return trace.extents.product(rounds.shape(id)); };
  for (std::size_t k = 0; k < results.size(); ++k) {
    for (std::size_t from = 0; from < carries.size(); ++from) {
      if (from == k || rounds.outputs[k] != carries[from] || count(carries[k]) != count(carries[from])) continue;
      const buffer_id place = results[from].buffer;
      if (plain::any_of(results, [&](const scan_result& y) { return y.other == place; })) continue;
      results[k].other = place;
      const carry_ring ring = ring_of(results, k);
      const bool is_circle = ring.carries == ring.size; // otherwise the last one is computed in one more buffer
      if (ring.size + (is_circle ? 0 : 1) <= carry_ring::most) planned.handed_on.push_back(static_cast<int>(k));
      else results[k].other = buffer_id::none;
      break;
    }
  }
}

constexpr void section_planner::add_scan(node_id call, const scan_parameters& p) {
  const graph& body = trace.at(p.body);
  const growing_vector<scan_operand> operands = loop_operands(call, p.roles, p.body);
  const section_id rounds = add_body(p.body);
  growing_vector<scan_result> results = carried_results(call, p.roles, rounds, true);
  for (std::size_t k = results.size(); k < body.outputs.size(); ++k) {
    const node_id result = g.results_of(call)[static_cast<int>(k)];
    results.push_back({.buffer = own_buffer(result), .slice = trace.extents.product(body.shape(body.outputs[k]))});
  }
  add(step_kind::scan, scan_step{rounds, p.length, p.reverse, plan.add_list(operands), plan.add_list(results)});
}

constexpr void section_planner::add_while(node_id call, const primitives::while_call::parameters& p) {
  const growing_vector<scan_operand> operands = loop_operands(call, p.roles, p.body);
  const section_id predicate = add_body(p.predicate), body = add_body(p.body);
  // where carries end depends on how many rounds there are
  const growing_vector<scan_result> results = carried_results(call, p.roles, body, false);
  add(step_kind::while_loop, while_step{predicate, body, plan.add_list(operands), plan.add_list(results)});
}

constexpr void section_planner::add_cond(node_id call, const cond_parameters& p) {
  const growing_vector<buffer_id> operands = vector_of(g.operands(call), [&](node_id x) { return buffer_of[x]; });
  const growing_vector<buffer_id> inputs(operands.begin() + 1, operands.end());
  const growing_vector<buffer_id> results =
      vector_of(g.results_of(call), [&](node_id result) { return own_buffer(result); });
  const growing_vector<section_id> branches = vector_of(p.branches, [&](graph_id branch) { return add_body(branch); });
  add(step_kind::cond, cond_step{operands[0], plan.add_list(branches), plan.add_list(inputs), plan.add_list(results)});
}

constexpr void section_planner::add_ffi(node_id call, const primitives::ffi_call::parameters& p) {
  growing_vector<ffi_array> arrays;
  for (const node_id x : g.operands(call)) arrays.push_back({buffer_of[x], plan.add_list(g.shape(x))});
  const int arguments = static_cast<int>(arrays.size());
  for (const node_id y : g.results_of(call)) arrays.push_back({own_buffer(y), plan.add_list(g.shape(y))});
  add(step_kind::ffi, ffi_step{p.function, arguments, plan.add_list(arrays)});
}

} // namespace parallax::PARALLAX_INLINE_VERSION::detail

namespace parallax::PARALLAX_INLINE_VERSION::primitives {
constexpr void pmap_call::lower(parallax::detail::section_planner& planner, node_id call, const parameters& p) {
  planner.add_call(call, planner.section_of(p.body), p.devices);
}
constexpr void scan_call::lower(parallax::detail::section_planner& planner, node_id call, const parameters& p) {
  planner.add_scan(call, p);
}
constexpr void while_call::lower(parallax::detail::section_planner& planner, node_id call, const parameters& p) {
  planner.add_while(call, p);
}
constexpr void cond_call::lower(parallax::detail::section_planner& planner, node_id call, const parameters& p) {
  planner.add_cond(call, p);
}
constexpr void ffi_call::lower(parallax::detail::section_planner& planner, node_id call, const parameters& p) {
  planner.add_ffi(call, p);
}
} // namespace parallax::PARALLAX_INLINE_VERSION::primitives

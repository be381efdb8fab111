// Which values may differ between the instances of a mapped function.
#pragma once

#include <parallax/core/growing_vector.hpp>
#include <parallax/core/ids.hpp>
#include <parallax/core/plain_span.hpp>
#include <parallax/primitives/rules.hpp>

namespace parallax::detail {

/// For each output of a body whether its value may differ between the instances along an axis, given whether the inputs
/// may.
constexpr growing_vector<char> varies_along(const context& trace, graph_id body, axis_id axis,
                                            plain_span<const char> inputs) {
  const graph& g = trace.at(body);
  id_set<node_id> varying(g.size());
  auto set = [&](node_id id, bool varies) {
    if (varies) varying.insert(id);
    else varying.erase(id);
  };
  for (std::size_t k = 0; k < inputs.size(); ++k) set(g.inputs[k], inputs[k] != 0);
  for_each(g.ids(), [&](node_id id) {
    if (!g.is_operation(id)) return;
    const primitive_rules& rules = rules_of(trace, g, id);
    for (node_id operand : g.operands(id)) set(id, varying.contains(operand) || varying.contains(id));
    if (is<primitives::axis_index>(g, id)) set(id, parameters_of<primitives::axis_index>(g, id).axis == axis);
    if (rules.kind == primitive_kind::collective) {
      const primitives::mapped_axes over = mapped_axes_of(g, id);
      if (over.contains(axis)) set(id, over.has_groups() || rules.varies_over_own_axes);
    }
    if (rules.kind == primitive_kind::call) {
      const growing_vector<char> operands = varying.flags_of(g.operands(id));
      const growing_vector<char> results = rules.call.varies(trace, axis, operands, g.parameters(id));
      for (int k = 0; k < g.results_of(id).size(); ++k) set(g.results_of(id)[k], results[index_of(k)] != 0);
    }
  });
  return varying.flags_of(g.outputs);
}

} // namespace parallax::detail

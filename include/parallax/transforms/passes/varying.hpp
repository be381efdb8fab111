// Values that may differ between the instances of a mapped function.
#pragma once

#include <parallax/core/support/flags.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>
#include <parallax/primitives/rules.hpp>

#include <string_view>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// Reports a collective that not all instances come to.
constexpr void collective_apart(const variation& v, std::string_view collective) {
  const std::string_view name = v.trace.axes[v.axis].name;
  message text;
  text << v.chosen_by << " may differ between the instances of axis";
  if (!name.empty()) text << " " << name;
  v.trace.fail(text << ", but " << collective << " inside needs all of them; decide by a value that all share, as pmax "
                    << "makes it, or select with where");
}

/// Which outputs of a body may differ between the instances along an axis, if the flagged `inputs` may.
constexpr result_flags varies_along(const variation& v, graph_id body, const operand_flags& inputs) {
  const graph& g = v.trace.at(body);
  id_set<node_id> varying(g.size());
  auto set = [&](node_id id, bool varies) {
    if (varies) varying.insert(id);
    else varying.erase(id);
  };
  for (std::size_t k = 0; k < inputs.size(); ++k) set(g.inputs[k], inputs[k] != 0);
  for_each(g.ids(), [&](node_id id) {
    if (!g.is_operation(id)) return;
    const primitive_rules& rules = rules_of(v.trace, g, id);
    for (node_id operand : g.operands(id)) set(id, varying.contains(operand) || varying.contains(id));
    if (is<primitives::axis_index>(g, id)) set(id, parameters_of<primitives::axis_index>(g, id).axis == v.axis);
    if (rules.kind == primitive_kind::collective) {
      const primitives::mapped_axes over = mapped_axes_of(g, id);
      if (!over.contains(v.axis)) return;
      set(id, over.has_groups() || rules.varies_over_own_axes);
      if (!v.chosen_by.empty()) collective_apart(v, rules.name);
    }
    if (rules.kind == primitive_kind::call) {
      const result_flags results = rules.call.varies(v, g.operands_in(varying, id), g.parameters(id));
      for (int k = 0; k < g.results_of(id).size(); ++k) set(g.results_of(id)[k], results[index_of(k)] != 0);
    }
  });
  return g.outputs_in(varying);
}

} // namespace parallax::PARALLAX_INLINE_VERSION::detail

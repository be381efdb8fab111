// The values that a derivative goes through.
#pragma once

#include <parallax/core/support/flags.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>
#include <parallax/primitives/rules.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// The nodes of a graph through which an output depends on a wanted input by floating values, inputs and outputs among
/// them.
constexpr id_set<node_id> active_nodes(const context& trace, graph_id source, const operand_flags& wanted) {
  const graph& g = trace.at(source);
  id_set<node_id> active(g.size());
  for (std::size_t k = 0; k < wanted.size(); ++k)
    if (wanted[k] != 0 && has_derivatives(g.type(g.inputs[k]))) active.insert(g.inputs[k]);
  for_each(g.ids(), [&](node_id id) {
    const bool is_call = is_kind(trace, g, id, primitive_kind::call);
    if (is<primitives::stop_gradient>(g, id) || (!is_call && !has_derivatives(g.type(id)))) return;
    for (node_id operand : g.operands(id))
      if (active.contains(operand)) active.insert(id);
  });
  id_set<node_id> useful(g.size());
  useful.insert(g.outputs);
  for_each(g.ids().reversed(), [&](node_id id) {
    if (!active.contains(id)) return;
    if (useful.contains(id)) useful.insert(g.operands(id));
    else active.erase(id);
  });
  return active;
}
/// Which outputs of a graph depend on a wanted input by floating values.
constexpr result_flags active_outputs(const context& trace, graph_id source, const operand_flags& wanted) {
  return trace.at(source).outputs_in(active_nodes(trace, source, wanted));
}

} // namespace parallax::PARALLAX_INLINE_VERSION::detail

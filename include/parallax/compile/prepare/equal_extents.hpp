// One name in lowered graphs for extents that the guards make equal in every call.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/primitives/rules.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// Renames all extents of a graph, those among parameters too. Broadcasts that turn out to change nothing, as gradients
/// have them, are left out.
constexpr void rename_extents(const context& trace, graph& g, known_equal& renamed) {
  if (renamed.empty()) return;
  g.rename_extents(renamed);
  table<node_id, node_id> same(g.size(), node_id::none);
  for_each(g.ids(), [&](node_id id) {
    if (g.is_operation(id)) rules_of(trace, g, id).rename(g.mutable_parameters(id), renamed);
    const bool changes = !is<primitives::broadcast_in_dim>(g, id) || !(g.shape(g.operand(id, 0)) == g.shape(id));
    same[id] = changes ? id : same[g.operand(id, 0)];
  });
  g.replace_uses(same);
}

} // namespace parallax::PARALLAX_INLINE_VERSION::detail

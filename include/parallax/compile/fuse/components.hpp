// Elementwise nodes that one loop can compute together.
#pragma once

#include <parallax/compile/fuse/row_sweeps.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>

#include <algorithm>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// Sets of directly linked nodes of the same depth. A node's depth is the largest number of steps of other kinds on a
/// path below it. So no node of a component needs another one by way of other loops.
class components {
 public:
  constexpr components(const context& owner, const graph& whole, const id_set<node_id>& needed,
                       const row_sweeps& sweeps)
      : trace(owner), g(whole), live(needed), rows(sweeps), component(g.size(), node_id::none) {
    connect();
  }

  /// The lowest node of a node's component.
  constexpr node_id first_of(node_id id) {
    while (component[id] != id) id = component[id] = component[component[id]];
    return id;
  }

 private:
  const context& trace;
  const graph& g;
  const id_set<node_id>& live;
  const row_sweeps& rows;
  table<node_id, node_id> component; ///< a lower node of the same component; itself for its first one

  constexpr bool is_kind(node_id id, primitive_kind kind) const {
    return parallax::detail::is_kind(trace, g, id, kind);
  }

  constexpr void connect() {
    const table<node_id, int> depth = depths();
    for_each(g.ids(), [&](node_id id) {
      component[id] = id;
      if (!live.contains(id) || !g.is_operation(id)) return;
      for (node_id operand : g.operands(id))
        if (depth[operand] == depth[id] && is_linked(id, operand)) {
          const node_id a = first_of(operand), b = first_of(id);
          component[std::max(a, b)] = std::min(a, b);
        }
    });
  }
  /// The members of a row sweep have one depth, which can rise while other nodes are visited. So all nodes are visited
  /// again until no depth rises.
  constexpr table<node_id, int> depths() const {
    constexpr int nothing_computed = -1;
    table<node_id, int> depth(g.size(), nothing_computed);
    table<row_sweep_id, int> sweep_depth(rows.sweeps.size(), 0);
    for (bool rises = true; rises;) {
      rises = false;
      for_each(g.ids(), [&](node_id id) {
        if (!live.contains(id)) return;
        if (g.is_result(id)) depth[id] = depth[g.operand(id, 0)];
        if (!g.is_operation(id)) return;
        int own = is_kind(id, primitive_kind::source) || is_kind(id, primitive_kind::view) ? nothing_computed : 0;
        for (node_id operand : g.operands(id))
          if (int below = depth[operand]; below >= 0 && rows.inner_member(id, operand) == node_id::none)
            own = std::max(own, is_linked(id, operand) ? below : below + 1);
        if (rows.is_member(id)) {
          int& whole = sweep_depth[rows.sweep_of[id]];
          rises = rises || own > whole;
          own = whole = std::max(own, whole);
        }
        depth[id] = own;
      });
    }
    return depth;
  }
  /// Whether an element is made of the same element of each operand; a gather's offsets are such operands.
  constexpr bool is_elementwise(node_id id) const {
    return is_kind(id, primitive_kind::elementwise) || is_kind(id, primitive_kind::gather);
  }
  /// Operands of an elementwise node are of its shape, or scalars.
  constexpr bool is_linked(node_id id, node_id operand) const {
    return g.rank(operand) == g.rank(id) && is_elementwise(operand) && is_elementwise(id) &&
           !(is_kind(id, primitive_kind::gather) && g.operand(id, 0) == operand) && !rows.is_member(id) &&
           !rows.is_member(operand);
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::detail

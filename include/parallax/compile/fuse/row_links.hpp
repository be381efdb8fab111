// Which nodes can be computed by a loop over rows, and which of these nodes an operand is a view of.
#pragma once

#include <parallax/compile/fuse/index_map.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>
#include <parallax/primitives/arrays/reduction.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// The nodes of a graph that can be members of row sweeps, and what links them.
class row_links {
 protected:
  /// A computed value that an operand is a view of, and whether the view repeats its elements along rows.
  struct link {
    node_id base = node_id::none;
    bool expands = false;
  };

  context& trace;
  const graph& g;
  const id_set<node_id>& live;
  bool any = false;          ///< whether there is a reduction along rows; if not, nothing is linked
  table<node_id, char> able; ///< whether a node can be a member
  table<node_id, link> links;

  /// Links the nodes that are needed.
  constexpr row_links(context& owner, const graph& whole, const id_set<node_id>& needed)
      : trace(owner), g(whole), live(needed) {
    for_each(g.ids(), [&](node_id id) { any = any || (live.contains(id) && is_row_reduction(id)); });
    if (!any) return;
    able = table<node_id, char>(g.size(), 0);
    links = table<node_id, link>(g.size());
    for_each(g.ids(), [&](node_id id) {
      if (!live.contains(id)) return;
      able[id] = can_be_member(id) ? 1 : 0;
      links[id] = follow(id);
    });
  }

  static constexpr dims without_ones(const dims& shape) {
    dims result;
    for (dim d : shape)
      if (!(d == 1)) result.push_back(d);
    return result;
  }
  constexpr bool is_row_reduction(node_id id) const {
    if (!is_kind(trace, g, id, primitive_kind::reduction)) return false;
    if (is<primitives::argmax>(g, id) || is<primitives::argmin>(g, id)) return false;
    dims shape = g.shape(g.operand(id, 0));
    int last = shape.size() - 1;
    while (last >= 0 && shape[last] == 1) --last;
    if (last < 0 || (is_static(shape[last]) && shape[last].number() < shortest_row)) return false;
    const axis_list axes = parameters_of<primitives::reduction>(g, id).axes;
    int reduced = 0;
    for (int axis : axes) reduced += shape[axis] == 1 ? 0 : 1;
    return axes.contains(last) && reduced == 1 && without_ones(shape).size() > 1;
  }

 private:
  /// In shorter rows registers would be mostly empty.
  static constexpr int shortest_row = 8;

  constexpr bool can_be_member(node_id id) const {
    return (is_kind(trace, g, id, primitive_kind::elementwise) && !without_ones(g.shape(id)).empty()) ||
           is_row_reduction(id);
  }

  constexpr link follow(node_id operand) const {
    if (able[operand] != 0) return {operand, false};
    index_map map = identity_map(g.rank(operand));
    node_id base = operand;
    while (is_affine_view(trace, g, base)) {
      map = through_view(trace.extents, g, base, map);
      base = g.operand(base, 0);
    }
    if (base == operand || able[base] == 0) return {};
    // the base's axes have to be the operand's first ones, in order
    dims whole = g.shape(operand), part = g.shape(base);
    int next = 0;
    auto skip_ones = [&] {
      while (next < whole.size() && whole[next] == 1) ++next;
    };
    for (int k = 0; k < part.size(); ++k) {
      if (part[k] == 1) continue;
      skip_ones();
      if (next == whole.size() || !(whole[next] == part[k]) || !(map[k] == axis_map::identity(next))) return {};
      ++next;
    }
    skip_ones();
    if (next == whole.size()) return {base, false};
    ++next;
    skip_ones();
    return next == whole.size() ? link{base, true} : link{};
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::detail

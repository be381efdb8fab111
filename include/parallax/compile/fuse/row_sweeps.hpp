// Row sweeps: reductions along the last axis and what is computed beside them, which one loop over the rows can do.
#pragma once

#include <parallax/compile/fuse/index_map.hpp>
#include <parallax/compile/fuse/row_links.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/small_vector.hpp>
#include <parallax/core/version.hpp>
#include <parallax/primitives/arrays/reduction.hpp>

#include <algorithm>
#include <vector>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// The number of a row sweep: nodes that one loop over rows computes.
enum class row_sweep_id : int { none = -1 };

/// Finds the row sweeps of a graph: softmax, a variance, their gradients. A member is of the rows' shape, or has one
/// element for each row; extents of 1 do not count. All paths between two members lead through members, so that a sweep
/// can be one step.
class row_sweeps : row_links {
 public:
  /// Longer kernels take too long to compile.
  static constexpr int most_members = 40;

  struct sweep {
    dims rows;                    ///< the shape without extents of 1; its last extent is a row's length
    node_id last = node_id::none; ///< the member of the largest number, which stands for the loop
    int members = 0, reductions = 0;
    bool goes_on = false; ///< something is computed from a reduction's result
  };
  table<row_sweep_id, sweep> sweeps;
  table<node_id, row_sweep_id> sweep_of;

  constexpr row_sweeps(context& owner, const graph& whole, const id_set<node_id>& needed)
      : row_links(owner, whole, needed), sweep_of(whole.size(), row_sweep_id::none) {
    if (!any) return;
    connect();
    absorb();
    accept();
  }

  constexpr bool is_member(node_id id) const { return sweep_of[id] != row_sweep_id::none; }
  /// The member of the same sweep that `id` reads as `operand`, perhaps through views; `none` if there is no such
  /// member.
  constexpr node_id inner_member(node_id id, node_id operand) const {
    if (!is_member(id)) return node_id::none;
    const node_id base = links[operand].base;
    return base != node_id::none && sweep_of[base] == sweep_of[id] ? base : node_id::none;
  }
  /// Whether a member has one element for each row.
  constexpr bool is_uniform(node_id id) const {
    return without_ones(g.shape(id)).size() < sweeps[sweep_of[id]].rows.size();
  }
  /// Whether a member's operands are whole rows.
  constexpr bool reads_rows(node_id id) const { return is_row_reduction(id) || !is_uniform(id); }

 private:
  using link_list = small_vector<link, 8>;
  table<node_id, int> depth; ///< the steps of any other kind below a node
  table<node_id, node_id> parent;
  /// `shape`: the shape of the rows if it is `known`, otherwise the shape of the members.
  struct component {
    bool known = false;
    dims shape;
  };
  table<node_id, component> components;

  /// The depth of nodes that are computed elementwise from the graph's inputs alone: they are ready before any sweep,
  /// or join the loop that reads them.
  static constexpr int early = -1;

  static constexpr dims without_last(dims shape) {
    shape.pop_back();
    return shape;
  }
  /// Makes `into` the union of two sets of members; false if their shapes do not fit.
  static constexpr bool merge(component& into, const component& other) {
    if (into.known == other.known) return into.shape == other.shape;
    const component& rows = into.known ? into : other;
    const component& some = into.known ? other : into;
    if (!(some.shape == rows.shape) && !(some.shape == without_last(rows.shape))) return false;
    into = component(rows);
    return true;
  }
  constexpr node_id root_of(node_id id) {
    while (parent[id] != id) id = parent[id] = parent[parent[id]];
    return id;
  }

  /// Joins linked members of the same depth.
  constexpr void connect() {
    depth = table<node_id, int>(g.size(), early);
    parent = table<node_id, node_id>(g.size(), node_id::none);
    components = table<node_id, component>(g.size());
    table<node_id, node_id> reduced_by(g.size(), node_id::none); // the last reduction of an unlinked operand
    for_each(g.ids(), [&](node_id id) {
      parent[id] = id;
      if (g.is_result(id)) depth[id] = depth[g.operand(id, 0)];
      if (!live.contains(id) || !g.is_operation(id)) return;
      if (able[id] != 0) connect_member(id, reduced_by);
      else depth[id] = depth_of_other(id);
    });
  }
  constexpr int depth_of_other(node_id id) const {
    int own = starts_early(id) ? early : 0;
    for (node_id operand : g.operands(id))
      if (depth[operand] >= 0) own = std::max(own, depth[operand] + 1);
    return own;
  }
  constexpr bool starts_early(node_id id) const {
    const primitive_kind kind = rules_of(trace, g, id).kind;
    return kind == primitive_kind::source || kind == primitive_kind::view || kind == primitive_kind::elementwise;
  }
  constexpr void connect_member(node_id id, table<node_id, node_id>& reduced_by) {
    const bool reduces = is_kind(trace, g, id, primitive_kind::reduction);
    component& mine = components[id];
    mine = {reduces, without_ones(g.shape(reduces ? g.operand(id, 0) : id))};
    int own = starts_early(id) ? early : 0;
    link_list own_links;
    for (node_id operand : g.operands(id)) {
      link l = links[operand];
      if (l.base != node_id::none && (depth[l.base] == early || (reduces && l.expands))) l = {};
      own_links.push_back(l);
      if (l.base != node_id::none) own = std::max(own, depth[l.base]);
      else if (depth[operand] >= 0) own = std::max(own, depth[operand] + 1);
    }
    if (reduces && own_links[0].base == node_id::none) {
      node_id& other = reduced_by[g.operand(id, 0)];
      if (other != node_id::none) own_links.push_back({other, false});
      other = id;
    }
    component together = mine;
    const bool fits = merge_links(together, own_links, own, mine.shape);
    depth[id] = fits ? own : own + 1;
    if (!fits) return;
    for (const link& l : own_links)
      if (l.base != node_id::none && depth[l.base] == own) parent[root_of(l.base)] = id;
    components[id] = together;
  }
  /// Adds to `together` the components of all members of depth `own` that a node is linked to; false if their shapes do
  /// not fit.
  constexpr bool merge_links(component& together, const link_list& own_links, int own, const dims& shape) {
    for (const link& l : own_links) {
      if (l.base == node_id::none || depth[l.base] != own) continue;
      if (l.expands && !merge(together, {true, shape})) return false;
      if (!merge(together, components[root_of(l.base)])) return false;
    }
    return true;
  }

  /// The sizes of a component, and the readers of its members outside: one other component, or any nodes.
  struct summary {
    int members = 0, reductions = 0;
    node_id reader = node_id::none; ///< a member of that component
    bool has_others = false;        ///< whether anything else reads some
  };
  /// Merges a component that has a reduction into its only reader, if its inputs are ready before that reader runs: the
  /// sums of targets, beside a cross-entropy's.
  constexpr void absorb() {
    table<node_id, summary> by_root(g.size());
    summarise(by_root);
    for_each(g.ids(), [&](node_id id) {
      if (able[id] == 0 || parent[id] != id) return;
      const summary& own = by_root[id];
      if (own.reductions == 0 || own.has_others || own.reader == node_id::none) return;
      const node_id into = root_of(own.reader);
      summary& larger = by_root[into];
      if (into == id || larger.members + own.members > most_members || larger.reductions == 0) return;
      component together = components[into];
      if (!merge(together, components[id])) return;
      parent[id] = into;
      components[into] = together;
      larger.members += own.members;
    });
  }
  /// Sets the summaries of the components' roots.
  constexpr void summarise(table<node_id, summary>& by_root) {
    auto note_other = [&](node_id read) {
      while (is_affine_view(trace, g, read)) read = g.operand(read, 0);
      if (able[read] != 0) by_root[root_of(read)].has_others = true;
    };
    for_each(g.ids(), [&](node_id id) {
      if (!live.contains(id) || !g.is_operation(id)) return;
      if (able[id] != 0) {
        summary& own = by_root[root_of(id)];
        ++own.members;
        own.reductions += is_row_reduction(id) ? 1 : 0;
      }
      if (is_affine_view(trace, g, id)) return; // read through
      for (node_id operand : g.operands(id)) {
        const link& l = links[operand];
        const bool follows = able[id] != 0 && l.base != node_id::none && reads_as_row(id, l);
        if (!follows) {
          note_other(operand);
          continue;
        }
        const node_id from = root_of(l.base), to = root_of(id);
        if (from == to) continue;
        summary& read = by_root[from];
        read.has_others = read.has_others || (read.reader != node_id::none && read.reader != to);
        read.reader = to;
      }
    });
    for_each(g.outputs, note_other);
  }
  /// Whether a member reads a linked operand row by row. A reduction does not if the operand has one element for a row.
  constexpr bool reads_as_row(node_id id, const link& l) const {
    return !(l.expands && is_kind(trace, g, id, primitive_kind::reduction));
  }

  /// Makes sweeps of the components that have several reductions, or one whose result another member reads.
  constexpr void accept() {
    table<node_id, sweep> found(g.size());
    for_each(g.ids(), [&](node_id id) {
      if (able[id] == 0) return;
      sweep& all = found[root_of(id)];
      all.last = id;
      ++all.members;
      if (is_row_reduction(id)) ++all.reductions;
      for (node_id operand : g.operands(id))
        if (node_id base = links[operand].base;
            base != node_id::none && root_of(base) == root_of(id) && is_row_reduction(base))
          all.goes_on = true;
    });
    table<node_id, row_sweep_id> accepted(g.size(), row_sweep_id::none);
    for_each(g.ids(), [&](node_id id) {
      if (able[id] == 0) return;
      const node_id root = root_of(id);
      const sweep& all = found[root];
      if (all.reductions == 0 || all.members > most_members || (!all.goes_on && all.reductions == 1)) return;
      if (accepted[root] == row_sweep_id::none) {
        accepted[root] = sweeps.add(all);
        sweeps.back().rows = components[root].shape;
      }
      sweep_of[id] = accepted[root];
    });
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::detail

// Row groups: reductions along the last axis and what is computed beside them, which one loop over the rows can do.
#pragma once

#include <parallax/compile/index_map.hpp>

#include <algorithm>
#include <vector>

namespace parallax::detail {

/// Finds the row groups of a graph: softmax, a variance, their gradients. A member is of the rows' shape, or has one
/// element for each row; extents of 1 do not count. All paths between two members lead through members, so that a group
/// can be one step.
class row_groups {
 public:
  /// Longer kernels take too long to compile; in shorter rows registers would be mostly empty.
  static constexpr int most_members = 40;
  static constexpr dim shortest_row = 8;

  struct group {
    dims rows;     ///< the shape without extents of 1; its last extent is a row's length
    int last = -1; ///< the member of the largest number, which stands for the loop
    int members = 0;
    int reductions = 0;
    bool goes_on = false; ///< something is computed from a reduction's result
  };
  std::vector<group> groups;
  std::vector<int> group_of; ///< by node; -1 for none

  constexpr row_groups(context& owner, const graph& whole, const std::vector<char>& live)
      : group_of(whole.nodes.size(), -1), trace(owner), g(whole) {
    bool any = false;
    for (int id = 0; id < g.size() && !any; ++id) any = live[at(id)] && is_row_reduction(id);
    if (!any) return;
    connect(live);
    accept(live);
  }

  /// The member that a member reads as this operand, through views within the group; -1 where it is none.
  constexpr int inner_member(int id, int operand) const {
    if (group_of[at(id)] < 0) return -1;
    link l = follow(operand);
    return l.base >= 0 && group_of[at(l.base)] == group_of[at(id)] ? l.base : -1;
  }
  /// Whether a member has one element for each row.
  constexpr bool is_uniform(int id) const {
    return without_ones(g.shape(id)).size() < groups[at(group_of[at(id)])].rows.size();
  }
  /// Whether a member's operands are whole rows.
  constexpr bool reads_rows(int id) const { return is_row_reduction(id) || !is_uniform(id); }
  static constexpr dims without_ones(const dims& shape) {
    dims result;
    for (dim d : shape)
      if (d != 1) result.push_back(d);
    return result;
  }

 private:
  context& trace;
  const graph& g;
  std::vector<int> depth, parent;
  /// By component: the rows' shape, or as long as that is not known the shape of its members.
  struct component {
    bool known = false;
    dims shape;
  };
  std::vector<component> components;

  /// A computed value that an operand is a view of, and whether the view repeats its elements along rows.
  struct link {
    int base = -1;
    bool expands = false;
  };

  static constexpr std::size_t at(int id) { return static_cast<std::size_t>(id); }

  constexpr bool is_row_reduction(int id) const {
    int operation = g.at(id).operation;
    if (operation < 0 || rules_of(operation).kind != primitive_kind::reduction) return false;
    if (operation == primitives::number_of<primitives::argmax> ||
        operation == primitives::number_of<primitives::argmin>)
      return false;
    dims shape = g.shape(g.operand(id, 0));
    int last = shape.size() - 1;
    while (last >= 0 && shape[last] == 1) --last;
    if (last < 0 || (is_static(shape[last]) && shape[last] < shortest_row)) return false;
    int reduced = 0;
    bool of_last = false;
    for (std::int64_t axis : g.parameters(id)) {
      of_last = of_last || axis == last;
      reduced += shape[static_cast<int>(axis)] != 1;
    }
    return of_last && reduced == 1 && without_ones(shape).size() > 1;
  }
  constexpr bool can_be_member(int id) const {
    int operation = g.at(id).operation;
    if (operation < 0) return false;
    primitive_kind kind = rules_of(operation).kind;
    return (kind == primitive_kind::elementwise && !without_ones(g.shape(id)).empty()) || is_row_reduction(id);
  }

  constexpr link follow(int operand) const {
    if (can_be_member(operand)) return {operand, false};
    index_map map;
    for (int k = 0; k < g.at(operand).rank; ++k) map.push_back({k, 1, 0});
    int base = operand;
    while (is_affine_view(g, base)) {
      map = through_view(trace.extents, g, base, map);
      base = g.operand(base, 0);
    }
    if (base == operand || !can_be_member(base)) return {};
    // the base's axes have to be the operand's first ones, in order
    dims whole = g.shape(operand), part = g.shape(base);
    int next = 0;
    auto skip_ones = [&] {
      while (next < whole.size() && whole[next] == 1) ++next;
    };
    for (int k = 0; k < part.size(); ++k) {
      if (part[k] == 1) continue;
      skip_ones();
      if (next == whole.size() || whole[next] != part[k] || !(map[k] == axis_map{next, 1, 0})) return {};
      ++next;
    }
    skip_ones();
    if (next == whole.size()) return {base, false};
    ++next;
    skip_ones();
    return next == whole.size() ? link{base, true} : link{};
  }

  static constexpr dims without_last(dims shape) {
    shape.pop_back();
    return shape;
  }
  /// Whether two sets of members can be one, which `into` then describes.
  static constexpr bool merge(component& into, const component& other) {
    if (into.known == other.known) return into.shape == other.shape;
    const component& rows = into.known ? into : other;
    const component& some = into.known ? other : into;
    if (!(some.shape == rows.shape) && !(some.shape == without_last(rows.shape))) return false;
    into = component(rows);
    return true;
  }
  constexpr int root_of(int id) {
    while (parent[at(id)] != id) id = parent[at(id)] = parent[at(parent[at(id)])];
    return id;
  }

  static constexpr int early = -1;

  /// Joins what is linked and at the same depth, which counts the steps of any other kind below a node. What is
  /// computed elementwise from the graph's inputs alone is early: it is ready before any group, or joins the loop that
  /// uses it.
  constexpr void connect(const std::vector<char>& live) {
    depth.assign(g.nodes.size(), early);
    std::vector<int> reduced_by(g.nodes.size(), -1); // the last reduction that reads a node which is no member
    parent.assign(g.nodes.size(), -1);
    components.assign(g.nodes.size(), {});
    for (int id = 0; id < g.size(); ++id) {
      parent[at(id)] = id;
      if (!live[at(id)] || g.at(id).operation < 0) continue;
      primitive_kind kind = rules_of(g.at(id).operation).kind;
      bool starts_early =
          kind == primitive_kind::source || kind == primitive_kind::view || kind == primitive_kind::elementwise;
      int own = starts_early ? early : 0;
      std::span<const int> operands = g.operands(id);
      if (!can_be_member(id)) {
        for (int operand : operands)
          if (depth[at(operand)] >= 0) own = std::max(own, depth[at(operand)] + 1);
        depth[at(id)] = own;
        continue;
      }
      component& mine = components[at(id)];
      bool reduces = kind == primitive_kind::reduction;
      mine = {reduces, without_ones(g.shape(reduces ? operands[0] : id))};
      small_vector<link, 8> links;
      for (int operand : operands) {
        link l = follow(operand);
        if (l.base >= 0 && (depth[at(l.base)] == early || (reduces && l.expands))) l = {};
        links.push_back(l);
        if (l.base >= 0) own = std::max(own, depth[at(l.base)]);
        else if (depth[at(operand)] >= 0) own = std::max(own, depth[at(operand)] + 1);
      }
      if (reduces && links[0].base < 0) {
        if (int& other = reduced_by[at(operands[0])]; other >= 0) links.push_back({other, false});
        reduced_by[at(operands[0])] = id;
      }
      component together = mine;
      bool fits = true;
      for (const link& l : links) {
        if (l.base < 0 || depth[at(l.base)] != own) continue;
        if (l.expands) fits = fits && merge(together, {true, mine.shape});
        fits = fits && merge(together, components[at(root_of(l.base))]);
      }
      if (!fits) {
        depth[at(id)] = own + 1;
        continue;
      }
      depth[at(id)] = own;
      for (const link& l : links)
        if (l.base >= 0 && depth[at(l.base)] == own) parent[at(root_of(l.base))] = id;
      components[at(id)] = together;
    }
  }

  /// Components with a reduction, of which something else is made, become groups.
  constexpr void accept(const std::vector<char>& live) {
    std::vector<group> found(g.nodes.size());
    for (int id = 0; id < g.size(); ++id) {
      if (!live[at(id)] || !can_be_member(id)) continue;
      group& all = found[at(root_of(id))];
      all.last = id;
      ++all.members;
      if (is_row_reduction(id)) ++all.reductions;
      for (int operand : g.operands(id))
        if (int base = follow(operand).base; base >= 0 && root_of(base) == root_of(id) && is_row_reduction(base))
          all.goes_on = true;
    }
    std::vector<int> number(g.nodes.size(), -1);
    for (int id = 0; id < g.size(); ++id) {
      if (!live[at(id)] || !can_be_member(id)) continue;
      int root = root_of(id);
      const group& all = found[at(root)];
      if (all.reductions == 0 || all.members > most_members || (!all.goes_on && all.reductions == 1)) continue;
      if (number[at(root)] < 0) {
        number[at(root)] = static_cast<int>(groups.size());
        groups.push_back(all);
        groups.back().rows = components[at(root)].shape;
      }
      group_of[at(id)] = number[at(root)];
    }
  }
};

} // namespace parallax::detail

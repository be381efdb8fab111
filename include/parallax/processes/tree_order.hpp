// The order in which values of many instances are combined: a balanced binary tree by their index. The result does not
// depend on which of them a thread or a process has combined already.
#pragma once

#include <parallax/core/version.hpp>

#include <bit>

namespace parallax::PARALLAX_INLINE_VERSION::processes {

/// A node of the tree, by its leaves: `count` of them from `first` on. Pairs are combined, then pairs of pairs: ((0
/// 1)(2 3))((4 5) 6) for seven.
struct tree_node {
  int first = 0, count = 0;

  constexpr tree_node left() const { return {first, half()}; }
  constexpr tree_node right() const { return {first + half(), count - half()}; }
  friend constexpr bool operator==(tree_node, tree_node) = default;

 private:
  constexpr int half() const { return static_cast<int>(std::bit_floor(static_cast<unsigned>(count - 1))); }
};

/// Combines the values below a node into `target`. `known(node)` is the value of a node if it is known, and false
/// otherwise. `on` has the operations `copy(target, value)` and `combine(target, value)`; `spare(depth)` is memory for
/// one more value, which `view` makes a value.
template <class Known, class Arithmetic>
constexpr void combine_tree(auto* target, tree_node node, const Known& known, Arithmetic& on, int depth = 0) {
  if (const auto value = known(node)) return on.copy(target, value);
  combine_tree(target, node.left(), known, on, depth);
  if (const auto value = known(node.right())) return on.combine(target, value);
  auto* other = on.spare(depth);
  combine_tree(other, node.right(), known, on, depth + 1);
  on.combine(target, on.view(other));
}

/// Calls `f(node)` for the highest nodes for which `is_whole(node)` holds.
template <class IsWhole, class F> constexpr void highest_nodes(tree_node node, const IsWhole& is_whole, const F& f) {
  if (is_whole(node)) return f(node);
  if (node.count == 1) return;
  highest_nodes(node.left(), is_whole, f);
  highest_nodes(node.right(), is_whole, f);
}

} // namespace parallax::PARALLAX_INLINE_VERSION::processes

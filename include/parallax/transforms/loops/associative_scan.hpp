// associative_scan: the combination of the elements up to each.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/transforms/loops/prefix_loops.hpp>
#include <parallax/transforms/loops/prefix_tree.hpp>

#include <cstdint>
#include <tuple>
#include <type_traits>

namespace parallax::PARALLAX_INLINE_VERSION {
namespace detail {

/// More elements than `MostInTree` are combined in loops.
template <class Function, int Axis, bool Reverse, std::int64_t MostInTree = 65536> struct associative_scanned {
  [[no_unique_address]] Function function;

  template <class Elements> constexpr auto operator()(const Elements& elements) const {
    if constexpr (!any_traced<Elements>()) return execute(*this, elements);
    else if constexpr (!is_callable<Function, traced_t<Elements>, traced_t<Elements>>())
      return refuse_call<Function, Elements, Elements>(trace_of_trees(elements), "associative_scan");
    else return trace(trace_of_trees(elements), elements);
  }

 private:
  template <class Elements> constexpr auto trace(context& owner, const Elements& elements) const {
    const auto tree = tree_map([&](const auto& leaf) { return leaf_to_tracer(owner, leaf); }, elements);
    const growing_vector<tracer> leaves = tracers_of(tree);
    if (leaves.empty()) return tree;
    const int along = normalize_axis(owner, "associative_scan", Axis, leaves[0].rank());
    if (owner.failed) return tree;
    for (const tracer& leaf : leaves) {
      if (leaf.rank() > along && is_static(leaf.dimension(along)) &&
          leaf.dimension(along) == leaves[0].dimension(along))
        continue;
      message text;
      text << "associative_scan: axis " << along << " of ";
      print_value(text, owner.extents, leaf.value());
      owner.fail(text << (leaf.rank() > along && !is_static(leaf.dimension(along))
                              ? " is known to the call only; use scan, or an array of static extents"
                              : " is not that of the first array; give arrays of as many elements"));
      return tree;
    }
    using traced_tree_type = std::remove_cvref_t<decltype(tree)>;
    const combination<Function, traced_tree_type> combine(owner, function, tree, along);
    if (leaves[0].dimension(along).number() > MostInTree) {
      const growing_vector<tracer> made = prefix_loops(combine, Reverse).run(leaves);
      return with_leaves(tree, made);
    }
    const growing_vector<tracer> made = prefix_tree(combine, Reverse).run(leaves);
    return with_leaves(tree, made);
  }
};
template <class Function, int Axis, bool Reverse, std::int64_t MostInTree>
inline constexpr bool is_transformed<associative_scanned<Function, Axis, Reverse, MostInTree>> = true;

template <class Option> inline constexpr int axis_option = 0;
template <int Axis> inline constexpr int axis_option<axis_t<Axis>> = Axis;

} // namespace detail

/// For each k, the combination of elements 0 to k of a tree of arrays. `function(a, b)` combines many pairs of elements
/// at once, slice by slice along the axis; it must be associative. Options: `axis<k>`, 0 without it; `in_reverse`,
/// which begins with the last element. The number of elements is known while compiling: up to 65,536 are combined in a
/// tree of log2(n) levels, more in loops of sqrt(n) rounds, each of which combines sqrt(n) of them, so that code stays
/// bounded. Shapes: those of the elements. Errors: a function that returns another tree than those it is given. JAX:
/// lax.associative_scan
template <class Function, class Elements, class... Options>
  requires(std::is_empty_v<Options> && ...)
constexpr auto associative_scan(Function function, const Elements& elements, Options...) {
  constexpr int along = (0 + ... + detail::axis_option<Options>);
  constexpr bool reverse = (false || ... || std::is_same_v<Options, in_reverse_t>);
  return detail::associative_scanned<Function, along, reverse>{function}(elements);
}

} // namespace parallax::PARALLAX_INLINE_VERSION

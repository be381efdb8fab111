// ravel_pytree: the leaves of a tree as one vector, and back.
#pragma once

#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/version.hpp>
#include <parallax/transforms/passes/callable.hpp>

#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION {

/// Makes trees of vectors inside a traced function: the second value that `ravel_pytree` returns.
template <class Tree> class unravelled {
 public:
  constexpr unravelled(detail::context& owner, const Tree& like) : trace(&owner), tree(like) {
    tree_for_each([&](const tracer& leaf) { values.push_back(leaf.value()); }, like);
  }

  /// A tree like the one that was made a vector, of the types that its leaves had.
  constexpr Tree operator()(const tracer& vector) const {
    detail::growing_vector<tracer> leaves;
    detail::dim from{};
    for (std::size_t k = 0; k < values.size(); ++k) {
      const detail::dim to = trace->extents.add(from, trace->extents.product(values[k].shape));
      leaves.push_back(
          build::convert(build::reshape(build::slice_axis(vector, 0, from, to), values[k].shape), values[k].type));
      from = to;
    }
    return detail::with_leaves(tree, leaves);
  }

 private:
  detail::context* trace;
  Tree tree;
  detail::growing_vector<detail::abstract_value> values;
};

/// The pair of a vector, the leaves of a tree one behind the other, and of a function that makes such trees of vectors.
/// Inside traced functions. JAX: flatten_util.ravel_pytree
template <class Tree> constexpr auto ravel_pytree(const Tree& tree) {
  static_assert(detail::any_traced<Tree>(),
                "parallax: ravel_pytree: call it inside a traced function, such as one that "
                "jit is given");
  detail::context& trace = detail::trace_of_trees(tree);
  const detail::growing_vector<tracer> leaves = detail::leaves_to_tracers(trace, tree);
  const auto traced = [&] {
    std::size_t next = 0;
    return tree_map([&](const auto&) { return leaves[next++]; }, tree);
  }();
  detail::growing_vector<tracer> flat;
  detail::dim total{};
  element_type type = leaves[0].type();
  for (const tracer& leaf : leaves) type = promote(type, leaf.type());
  for (const tracer& leaf : leaves) {
    const detail::dim size = trace.extents.product(leaf.extents());
    total = trace.extents.add(total, size);
    flat.push_back(build::reshape(build::convert(leaf, type), {size}));
  }
  const tracer vector = flat.size() == 1 ? flat[0] : detail::emit<primitives::concatenate>(trace, flat, {0});
  return std::pair{vector, unravelled<std::remove_cvref_t<decltype(traced)>>(trace, traced)};
}

} // namespace parallax::PARALLAX_INLINE_VERSION

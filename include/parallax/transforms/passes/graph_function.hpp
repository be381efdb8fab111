// Functions that are graphs of a trace: solvers get them in place of their users' functions.
#pragma once

#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/version.hpp>
#include <parallax/transforms/passes/callable.hpp>
#include <parallax/transforms/passes/forward.hpp>
#include <parallax/transforms/passes/mesh_variation.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// A function from trees of type `Tree` to such trees: its graph takes the leaves of the tree, and then the values
/// `given`.
template <class Tree> class graph_function {
 public:
  constexpr graph_function(context& owner, graph_id of, growing_vector<tracer> given)
      : trace(&owner), body(of), behind(std::move(given)) {}

  constexpr Tree operator()(const Tree& x) const {
    growing_vector<tracer> inputs = tracers_of(x);
    for_each(behind, [&](const tracer& y) { inputs.push_back(y); });
    return with_leaves(x, replay_graph(*trace, body, inputs));
  }

 private:
  context* trace;
  graph_id body;
  growing_vector<tracer> behind;
};

/// The derivative of such a function at a point, by the direction of the tree.
template <class Tree> class graph_derivative {
 public:
  constexpr graph_derivative(context& owner, graph_id of, growing_vector<tracer> where)
      : trace(&owner), body(of), at(std::move(where)) {}

  constexpr Tree operator()(const Tree& along) const {
    growing_vector<tracer> directions = tracers_of(along);
    directions.resize(at.size());
    const forward_pass pass(*trace, body, at, directions);
    growing_vector<tracer> moved = pass.tangents;
    for (std::size_t k = 0; k < moved.size(); ++k)
      if (!moved[k].owner) moved[k] = build::zeros_like(pass.outputs[k]);
    return with_leaves(along, moved);
  }

 private:
  context* trace;
  graph_id body;
  growing_vector<tracer> at;
};

/// A tree of tracers like `tree`, with strong types, as a function's argument has them.
template <class Tree> constexpr auto traced_like(context& trace, const Tree& tree) {
  const growing_vector<tracer> leaves = leaves_to_tracers(trace, tree);
  std::size_t next = 0;
  return tree_map(
      [&](const auto&) {
        const tracer leaf = leaves[next++];
        return build::convert(leaf, leaf.type());
      },
      tree);
}

/// Makes the values that a graph closes over the last inputs of it and of all other graphs, and the last of `operands`.
constexpr void share_captures(context& trace, graph_id of, plain_span<const graph_id> others,
                              growing_vector<tracer>& operands) {
  for_each(captures_to_inputs(trace, of), [&](const tracer& closed_over) {
    for (const graph_id other : others) {
      graph& g = trace.at(other);
      g.inputs.push_back(g.add_input(closed_over.value()));
    }
    operands.push_back(closed_over);
  });
}

/// A tree like `x` that varies along axes of meshes in scope as `function` of it does. A solver's result varies in this
/// way, whatever it begins with.
template <class Tree, class Function>
constexpr Tree varying_as_made(context& trace, const Tree& x, const Function& function) {
  if (!trace.is_on_mesh()) return x;
  growing_vector<tracer> leaves = tracers_of(x);
  for (bool again = true; again && !trace.failed;) {
    trace.open_graph();
    const growing_vector<tracer> made = leaves_to_tracers(trace, function(with_leaves(x, inputs_like(trace, leaves))));
    axis_bits all;
    for_each(made, [&](const tracer& y) { all = all | y.varies(); });
    trace.close_graph();
    again = false;
    for_each(leaves, [&](tracer& leaf) {
      again = again || !leaf.varies().contains(all);
      if (!trace.failed) leaf = vary_along(leaf, all);
    });
  }
  return with_leaves(x, leaves);
}

} // namespace parallax::PARALLAX_INLINE_VERSION::detail

// custom_root: a root of a function, by a solver of its user's own; its derivatives come from the function alone.
#pragma once

#include <parallax/core/support/flags.hpp>
#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/version.hpp>
#include <parallax/transforms/calls/custom_call.hpp>
#include <parallax/transforms/passes/graph_function.hpp>
#include <parallax/transforms/solvers/custom_linear_solve.hpp>

#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION {
namespace detail {

/// The derivative that a user's `tangent_solve` gets, together with a right-hand side.
template <class Tree> struct root_derivative {
  graph_derivative<Tree> derivative;
  Tree right;

  template <class... Given> constexpr auto operator()(const Given&... along) const {
    constexpr bool fits = sizeof...(Given) == 1 && (std::is_convertible_v<const Given&, Tree> && ...);
    static_assert(fits,
                  "parallax: custom_root: tangent_solve(g, y) calls g with something else than a tree like y; let "
                  "it call g(z)");
    if constexpr (fits) return derivative(along...);
    else return right;
  }
};

/// A root while its graphs are traced. They take the point, and behind it what the function and the solver close over.
template <class Tree, class TangentSolve> class root_trace {
 public:
  constexpr root_trace(context& trace, const Tree& at, const TangentSolve& solve)
      : owner(trace), point(at), tangent_solve(solve), operands(tracers_of(at)), size(operands.size()) {}

  /// The root as a tree like the point; the point itself once the trace has failed.
  template <class Function, class Solve> constexpr Tree trace(const Function& f, const Solve& solve) {
    trace_function(f);
    if (!owner.failed) trace_solver(solve);
    if (owner.failed) return point;
    trace_tangents();
    trace_backward(trace_linear());
    if (owner.failed) return point;
    return with_leaves(point, emit_call<primitives::custom_call>(owner, operands, call));
  }

 private:
  context& owner;
  const Tree& point;
  const TangentSolve& tangent_solve;
  growing_vector<tracer> operands;
  std::size_t size; ///< of the point, in leaves
  graph_id function = graph_id::none;
  primitives::custom_call::parameters call;

  template <class Function> constexpr void trace_function(const Function& f) {
    owner.open_graph();
    const auto made = f(with_leaves(point, inputs_like(owner, operands)));
    static_assert(same_structure<Tree, std::remove_cvref_t<decltype(made)>>(),
                  "parallax: custom_root: the function returns another tree than it is given");
    function = finish("the function", leaves_to_tracers(owner, made));
    if (!owner.failed) share_captures(owner, function, {}, operands);
  }
  template <class Solve> constexpr void trace_solver(const Solve& solve) {
    owner.open_graph();
    const growing_vector<tracer> begin = inputs_like(owner, operands);
    const auto root = solve(graph_function<Tree>(owner, function, closed_over(begin)), with_leaves(point, begin));
    static_assert(same_structure<Tree, std::remove_cvref_t<decltype(root)>>(),
                  "parallax: custom_root: the solver returns another tree than it is given");
    call.body = finish("the solver", leaves_to_tracers(owner, root));
    if (owner.failed) return;
    share_captures(owner, call.body, plain_span<const graph_id>(&function, 1), operands);
    for (std::size_t k = 0; k < operands.size(); ++k)
      call.moving.push_back(k >= size && has_derivatives(operands[k].type()));
    call.sees_results = true;
  }
  /// f_x dx = -df by what f closes over.
  constexpr void trace_tangents() {
    call.tangents.push_back(owner.open_graph());
    const growing_vector<tracer> at = enter_root();
    growing_vector<tracer> directions(size), moved;
    for (std::size_t k = size; k < operands.size(); ++k)
      directions.push_back(call.moving[k] != 0 ? new_input(owner, operands[k].value()) : tracer{});
    const forward_pass pass(owner, function, at, directions);
    for (std::size_t k = 0; k < size; ++k)
      moved.push_back(pass.tangents[k].owner ? -pass.tangents[k] : build::zeros_like(at[k]));
    if (!owner.failed) set_outputs(owner, solve_linear(at, moved));
    owner.close_graph();
  }
  /// The z of f_x z = y, as a graph of the operands and y.
  constexpr graph_id trace_linear() {
    const graph_id linear = owner.open_graph();
    const growing_vector<tracer> at = inputs_like(owner, operands), right = inputs_like(owner, tracers_of(point));
    if (!owner.failed) set_outputs(owner, solve_linear(at, right));
    owner.close_graph();
    return linear;
  }
  /// `linear` transposed, and then the pullback of f by what it closes over.
  constexpr void trace_backward(graph_id linear) {
    call.backward.push_back(owner.open_graph());
    const growing_vector<tracer> at = enter_root(), cotangents = inputs_like(owner, tracers_of(point));
    const growing_vector<tracer> minus = transposed(linear, at, cotangents);
    reverse_pass of_function(owner, function, at, call.moving);
    if (!owner.failed) {
      const growing_vector<tracer> gradients = of_function.backward(minus);
      for (std::size_t k = size; k < operands.size(); ++k)
        if (call.moving[k] != 0)
          add_output(owner, gradients[k].owner ? build::broadcast_to(gradients[k], at[k].extents())
                                               : build::zeros_like(at[k]));
    }
    owner.close_graph();
  }

  /// Minus the transposed solution of a linear graph.
  constexpr growing_vector<tracer> transposed(graph_id linear, const growing_vector<tracer>& at,
                                              const growing_vector<tracer>& cotangents) {
    growing_vector<tracer> inputs = at, minus;
    operand_flags by_y(at.size());
    for (std::size_t k = 0; k < size; ++k) {
      inputs.push_back(varying_zeros_like(cotangents[k]));
      by_y.push_back(1);
    }
    reverse_pass turned(owner, linear, inputs, by_y);
    const growing_vector<tracer> pulled = turned.backward(cotangents);
    for (std::size_t k = 0; k < size && !owner.failed; ++k) {
      const tracer w = pulled[at.size() + k];
      minus.push_back(w.owner ? -w : build::zeros_like(cotangents[k]));
    }
    return minus;
  }
  constexpr growing_vector<tracer> solve_linear(const growing_vector<tracer>& at, const growing_vector<tracer>& y) {
    const Tree right = with_leaves(point, y);
    const auto z = tangent_solve(root_derivative<Tree>{{owner, function, at}, right}, right);
    return leaves_to_tracers(owner, z);
  }
  /// Inputs of both rules: the root, then the operands, whose own point is not used.
  constexpr growing_vector<tracer> enter_root() {
    growing_vector<tracer> entered = inputs_like(owner, tracers_of(point));
    for_each(closed_over(inputs_like(owner, operands)), [&](const tracer& x) { entered.push_back(x); });
    return entered;
  }
  constexpr growing_vector<tracer> closed_over(const growing_vector<tracer>& inputs) const {
    growing_vector<tracer> rest;
    for (std::size_t k = size; k < operands.size(); ++k) rest.push_back(inputs[k]);
    return rest;
  }
  constexpr graph_id finish(std::string_view what, const growing_vector<tracer>& leaves) {
    const graph_id graph = owner.innermost();
    if (check_same_leaves(owner, "custom_root", what, leaves, tracers_of(point))) set_outputs(owner, leaves);
    owner.close_graph();
    return graph;
  }
};

} // namespace detail

/// A root x of `f`, a tree like `first`: what `solve(f, first)` returns. By the implicit function theorem f_x dx = -df,
/// with df the change of f by the values that it closes over. `tangent_solve(g, y)` solves the linear g(z) = y, and
/// has to be differentiable, as `cg` and the like are. `solve` itself need not be, and none of its values are kept.
/// Inside traced functions. JAX: lax.custom_root
template <class Function, class First, class Solve, class TangentSolve>
constexpr auto custom_root(const Function& f, const First& first, const Solve& solve,
                           const TangentSolve& tangent_solve) {
  using namespace detail;
  static_assert(any_traced<First>(), "parallax: custom_root: call it inside a traced function, such as one that jit is "
                                     "given");
  detail::context& owner = trace_of_trees(first);
  const auto given = varying_as_made(owner, traced_like(owner, first), f);
  // the root does not depend on the solver's first point
  const auto point = tree_map([](const tracer& x) { return detail::emit<primitives::stop_gradient>({x}); }, given);
  using tree = std::remove_cvref_t<decltype(point)>;
  // compiled here and not from within the trace, so that its errors stand near the top
  using tangent [[maybe_unused]] =
      decltype(tangent_solve(std::declval<root_derivative<tree>>(), std::declval<const tree&>()));
  return root_trace<tree, TangentSolve>(owner, point, tangent_solve).trace(f, solve);
}

} // namespace parallax::PARALLAX_INLINE_VERSION

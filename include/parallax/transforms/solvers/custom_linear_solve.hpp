// custom_linear_solve: a linear system with a solver of its user's own, whose derivatives solve systems too.
#pragma once

#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/version.hpp>
#include <parallax/transforms/calls/linear_solve_call.hpp>
#include <parallax/transforms/passes/check_leaves.hpp>
#include <parallax/transforms/passes/graph_function.hpp>

#include <type_traits>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION {
namespace detail {

/// Traces a solver of the system with this product; `operands` are the vector and the values that the matrix is made
/// of.
template <class Tree, class Solve>
constexpr graph_id trace_solver(context& owner, graph_id product, const Tree& vector,
                                const growing_vector<tracer>& operands, std::size_t of_matrix, const Solve& solve) {
  const graph_id graph = owner.open_graph();
  const growing_vector<tracer> inputs = inputs_like(owner, operands);
  const std::size_t size = tracers_of(vector).size();
  growing_vector<tracer> matrix;
  for (std::size_t k = size; k < of_matrix; ++k) matrix.push_back(inputs[k]);
  const auto made = solve(graph_function<Tree>(owner, product, matrix), with_leaves(vector, inputs));
  static_assert(same_structure<Tree, std::remove_cvref_t<decltype(made)>>(),
                "parallax: custom_linear_solve: the solver returns another tree than the right-hand side");
  const growing_vector<tracer> x = leaves_to_tracers(owner, made);
  if (check_same_leaves(owner, "custom_linear_solve", "the solver", x, tracers_of(vector))) set_outputs(owner, x);
  owner.close_graph();
  return graph;
}

} // namespace detail

/// The solution x of `matvec(x) = b`, a tree like `b`: what `solve(matvec, b)` returns. Derivatives, in both modes and
/// of any order, solve systems of the same matrix, or of its transpose by `transpose_solve(vecmat, b)`; so `solve`
/// itself need not be differentiable, and none of its values are kept. Inside traced functions. JAX:
/// lax.custom_linear_solve
template <class Matvec, class B, class Solve, class TransposeSolve>
constexpr auto custom_linear_solve(const Matvec& matvec, const B& b, const Solve& solve,
                                   const TransposeSolve& transpose_solve) {
  using namespace detail;
  static_assert(any_traced<B>(),
                "parallax: custom_linear_solve: call it inside a traced function, such as one that jit "
                "is given");
  detail::context& owner = trace_of_trees(b);
  const auto vector = varying_as_made(owner, traced_like(owner, b), matvec);
  using tree = std::remove_cvref_t<decltype(vector)>;
  detail::growing_vector<tracer> operands = tracers_of(vector);
  const std::size_t size = operands.size();
  primitives::linear_solve_call::parameters call;
  call.product = owner.open_graph();
  const auto made = matvec(with_leaves(vector, inputs_like(owner, operands)));
  static_assert(same_structure<tree, std::remove_cvref_t<decltype(made)>>(),
                "parallax: custom_linear_solve: the matrix times a vector is another tree than the right-hand side");
  const detail::growing_vector<tracer> y = leaves_to_tracers(owner, made);
  if (check_same_leaves(owner, "custom_linear_solve", "the matrix times a vector", y, operands)) set_outputs(owner, y);
  owner.close_graph();
  if (owner.failed) return vector;
  share_captures(owner, call.product, {}, operands);
  const std::size_t of_matrix = operands.size();
  call.solve = trace_solver(owner, call.product, vector, operands, of_matrix, solve);
  if (owner.failed) return vector;
  share_captures(owner, call.solve, detail::plain_span<const detail::graph_id>(&call.product, 1), operands);
  const detail::graph_id transposed = primitives::linear_solve_call::transposed_product(owner, call.product, size);
  call.transpose_solve = trace_solver(owner, transposed, vector, operands, operands.size(), transpose_solve);
  if (owner.failed) return vector;
  const detail::graph_id others[] = {call.product, call.solve};
  share_captures(owner, call.transpose_solve, others, operands);
  return with_leaves(vector, detail::emit_call<primitives::linear_solve_call>(owner, operands, call));
}

} // namespace parallax::PARALLAX_INLINE_VERSION

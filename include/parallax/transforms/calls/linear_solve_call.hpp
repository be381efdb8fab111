// The solution of a linear system inside a program, by any solver: its derivatives solve systems of the same matrix,
// and of its transpose.
#pragma once

#include <parallax/core/support/flags.hpp>
#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/version.hpp>
#include <parallax/transforms/calls/custom_call.hpp>
#include <parallax/transforms/passes/batch.hpp>
#include <parallax/transforms/passes/forward.hpp>
#include <parallax/transforms/passes/varying.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::primitives {

/// The operands are those of the right-hand side, and then those that the matrix is made of.
struct linear_solve_call {
  static constexpr primitive_kind kind = primitive_kind::call;
  static constexpr std::string_view name = "linear_solve";

  /// All graphs take a vector of the system, which may be of several arrays, and then the operands that the matrix is
  /// made of.
  struct parameters {
    graph_id product = graph_id::none;         ///< the matrix times the vector
    graph_id solve = graph_id::none;           ///< the solution for the vector
    graph_id transpose_solve = graph_id::none; ///< the solution of the transposed system

    static constexpr void describe(auto& p, auto& member) {
      member("product", p.product);
      member("solve", p.solve);
      member("transpose_solve", p.transpose_solve);
    }
  };

  static constexpr growing_vector<abstract_value> results(context& trace, plain_span<const abstract_value>,
                                                          const parameters& p) {
    return parallax::detail::results_of(trace, p.solve);
  }

  /// Vectors are mapped along axis 0, and so are operands of the matrix that differ between elements.
  static constexpr growing_vector<batched> batch(const batch_application& a, parameters p) {
    using namespace parallax::detail;
    const std::size_t size = a.trace.at(p.solve).outputs.size();
    operand_flags mapped = mapped_operands(a);
    for (std::size_t k = 0; k < size; ++k) mapped[k] = 1;
    for (graph_id* g : {&p.product, &p.solve, &p.transpose_solve}) *g = batched_body(a, *g, mapped);
    return at_front(emit_call<linear_solve_call>(a.trace, operands_at_front(a, mapped), p));
  }

  /// With x = A^-1 b and its cotangent x': the cotangent of b is the solution w of A^T w = x'. The cotangent of the
  /// matrix' operands is the pullback of -A x by w, at fixed x.
  static constexpr linearized_call linearize(const linearize_application& a, const parameters& p) {
    using namespace parallax::detail;
    context& trace = a.trace;
    const std::size_t size = trace.at(p.solve).outputs.size();
    linearized_call linear{.results = emit_call<linear_solve_call>(trace, a.operands, p),
                           .backward = id_of<custom_call>};
    const graph_id transposed = transposed_product(trace, p.product, size);
    linear.operands = linear.results;
    for (std::size_t k = size; k < a.operands.size(); ++k) linear.operands.push_back(a.operands[k]);
    const graph_id backward = trace.open_graph();
    growing_vector<tracer> at = inputs_like(trace, linear.operands);
    growing_vector<tracer> given;
    for (std::size_t k = 0; k < size; ++k) given.push_back(new_input(trace, linear.results[k].value()));
    for (std::size_t k = size; k < at.size(); ++k) given.push_back(at[k]);
    const growing_vector<tracer> w =
        emit_call<linear_solve_call>(trace, given, {transposed, p.transpose_solve, p.solve});
    operand_flags matrix(at.size());
    for (std::size_t k = 0; k < at.size(); ++k) matrix[k] = k >= size && a.wanted[k] != 0;
    growing_vector<tracer> gradients = w;
    for (std::size_t k = 0; k < size; ++k) {
      linear.differentiated_results.push_back(static_cast<int>(k));
      linear.differentiated_operands.push_back(static_cast<int>(k));
    }
    reverse_pass pass(trace, p.product, at, matrix);
    const growing_vector<tracer> minus = vector_of(w, [](const tracer& x) { return -x; });
    const growing_vector<tracer> by_matrix = pass.backward(minus);
    for (std::size_t k = size; k < at.size(); ++k) {
      if (matrix[k] == 0 || !by_matrix[k].owner) continue;
      gradients.push_back(by_matrix[k]);
      linear.differentiated_operands.push_back(static_cast<int>(k));
    }
    if (!trace.failed) for_each(gradients, [&](const tracer& g) { add_output(trace, g); });
    trace.close_graph();
    linear.parameters = encode(custom_call::parameters{backward});
    return linear;
  }

  /// A dx = db - dA x.
  static constexpr results_with_tangents jvp(const jvp_application& a, const parameters& p) {
    using namespace parallax::detail;
    context& trace = a.trace;
    results_with_tangents both{emit_call<linear_solve_call>(trace, a.operands, p), {}};
    const std::size_t size = both.results.size();
    growing_vector<tracer> at = both.results, directions(size);
    for (std::size_t k = size; k < a.operands.size(); ++k) {
      at.push_back(a.operands[k]);
      directions.push_back(a.tangents[k]);
    }
    const forward_pass pass(trace, p.product, at, directions);
    growing_vector<tracer> operands(a.operands.begin(), a.operands.end());
    for (std::size_t k = 0; k < size; ++k) {
      tracer& right = operands[k];
      right = a.tangents[k].owner ? a.tangents[k] : build::zeros_like(a.operands[k]);
      if (pass.tangents[k].owner) right = right - pass.tangents[k];
    }
    both.tangents = emit_call<linear_solve_call>(trace, operands, p);
    return both;
  }

  static constexpr result_flags varies(const variation& v, const operand_flags& operands, const parameters& p) {
    return parallax::detail::varies_along(v, p.solve, operands);
  }

  // Defined where graphs are prepared.
  static constexpr void prepare(parallax::detail::preparation&, node_id call, const parameters&);
  static constexpr prepared_away lower{};

  /// The graph of the transposed matrix times a vector.
  static constexpr graph_id transposed_product(context& trace, graph_id product, std::size_t size) {
    using namespace parallax::detail;
    const graph_id made = trace.open_graph();
    const growing_vector<tracer> inputs = inputs_like(trace, product);
    growing_vector<tracer> at = inputs, cotangents;
    operand_flags vector(at.size());
    for (std::size_t k = 0; k < size; ++k) {
      at[k] = varying_zeros_like(inputs[k]);
      cotangents.push_back(inputs[k]);
      vector[k] = 1;
    }
    reverse_pass pass(trace, product, at, vector);
    const growing_vector<tracer> turned = pass.backward(cotangents);
    for (std::size_t k = 0; k < size && !trace.failed; ++k)
      add_output(trace, turned[k].owner ? turned[k] : build::zeros_like(inputs[k]));
    trace.close_graph();
    return made;
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::primitives

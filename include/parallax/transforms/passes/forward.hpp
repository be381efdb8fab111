// Forward-mode differentiation of a graph. Primitives have one rule for both modes, `vjp`: it is a linear map of the
// cotangent, and the transpose of this map is the operation's map of tangents.
#pragma once

#include <parallax/core/support/flags.hpp>
#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/support/plain_algorithms.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/version.hpp>
#include <parallax/transforms/passes/activity.hpp>
#include <parallax/transforms/passes/reverse.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// Appends a graph's computation to the innermost graph, together with the computation of the tangents.
class forward_pass {
 public:
  growing_vector<tracer> outputs;
  growing_vector<tracer> tangents; ///< of the outputs; without an owner if they are zeros

  /// `inputs` stand for the graph's inputs; a tangent without an owner is zeros.
  constexpr forward_pass(context& owner, graph_id body, const growing_vector<tracer>& inputs,
                         const growing_vector<tracer>& input_tangents)
      : trace(owner), source(body), values(owner.at(body)), moving(owner.at(body).size()) {
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      values.set(g().inputs[k], inputs[k]);
      moving[g().inputs[k]] = input_tangents[k];
    }
    for_each(g().captures, [&](const capture& c) { values.set(c.inner, {&trace, g().parent, c.outer}); });
    const id_set<node_id> needed = g().needed();
    for_each(g().ids(), [&](node_id id) {
      if (!trace.failed && needed.contains(id) && !values.has(id)) append(id);
    });
    outputs = values.of(g().outputs);
    tangents = tangents_of(g().outputs);
    // after an error an output may have no value
    for_each(outputs, [&](tracer& y) {
      if (!y.owner) y = build::literal(trace, element_type::float32, 0);
    });
  }

 private:
  context& trace;
  graph_id source;
  replacements<tracer> values;
  table<node_id, tracer> moving; ///< the tangents

  /// Looked up again each time, as appending may move graphs.
  constexpr const graph& g() const { return trace.at(source); }

  constexpr growing_vector<tracer> tangents_of(plain_span<const node_id> ids) const {
    return vector_of(ids, [&](node_id id) { return moving[id]; });
  }

  constexpr void append(node_id id) {
    if (g().is_result(id)) return;
    const growing_vector<tracer> directions = tangents_of(g().operands(id));
    const bool moves = plain::any_of(directions, [](const tracer& t) { return t.owner != nullptr; });
    if (moves && is_kind(trace, g(), id, primitive_kind::call)) return append_call(id, directions);
    replay(trace, source, id, values);
    if (!moves || trace.failed || !has_derivatives(g().type(id)) || is<primitives::stop_gradient>(g(), id)) return;
    moving[id] = tangent_of(id, directions);
  }
  constexpr void append_call(node_id id, const growing_vector<tracer>& directions) {
    const growing_vector<tracer> operands = values.of(g().operands(id));
    const growing_vector<std::int64_t> parameters = copy_of(g().parameters(id));
    const id_range<node_id> results = g().results_of(id);
    const results_with_tangents both =
        rules_of(trace, g(), id).call.jvp(jvp_application{trace, operands, directions}, parameters);
    if (trace.failed) return;
    values.set(results, both.results);
    for (int k = 0; k < results.size(); ++k) moving[results[k]] = both.tangents[index_of(k)];
  }

  constexpr tracer tangent_of(node_id id, const growing_vector<tracer>& directions) {
    const primitive_rules& rules = rules_of(trace, g(), id);
    if (is<primitives::convert>(g(), id)) return build::convert(directions[0], g().type(id));
    switch (rules.kind) {
    case primitive_kind::view:
    case primitive_kind::assembly: return applied_to_tangents(id, directions);
    case primitive_kind::elementwise:
    case primitive_kind::reduction:
    case primitive_kind::cumulative:
    case primitive_kind::sorting:
    case primitive_kind::gather:
    case primitive_kind::scatter:
    case primitive_kind::product:
    case primitive_kind::collective: break;
    case primitive_kind::source:
    case primitive_kind::call: return {};
    }
    if (!rules.has_vjp) {
      missing_rule(trace, g().primitive(id), "Differentiation", g().value(g().operand(id, 0)),
                   "put its operand into stop_gradient, or use another operation");
      return {};
    }
    return rules.kind == primitive_kind::elementwise ? scaled_tangents(id, directions) : transposed(id, directions);
  }

  /// The tangent of an operation that is linear in all its operands together.
  constexpr tracer applied_to_tangents(node_id id, growing_vector<tracer> directions) {
    for (std::size_t i = 0; i < directions.size(); ++i)
      if (!directions[i].owner) directions[i] = build::zeros_like(values[g().operand(id, static_cast<int>(i))]);
    const growing_vector<std::int64_t> parameters = copy_of(g().parameters(id));
    return emit(trace, g().primitive(id), directions, parameters);
  }

  /// The tangent of an elementwise operation: each operand's derivative is one factor for each element, for cotangents
  /// as for tangents.
  constexpr tracer scaled_tangents(node_id id, const growing_vector<tracer>& directions) {
    const growing_vector<tracer> operands = values.of(g().operands(id));
    const growing_vector<std::int64_t> parameters = copy_of(g().parameters(id));
    const tracer result = values[id];
    tracer sum;
    for (std::size_t i = 0; i < directions.size(); ++i) {
      if (!directions[i].owner) continue;
      operand_flags wanted(directions.size());
      wanted[i] = 1;
      growing_vector<tracer> given(directions.size());
      vjp_application application{trace,  operands, result, build::broadcast_to(directions[i], result.extents()),
                                  wanted, given};
      rules_of(trace, g(), id).vjp(application, parameters);
      if (!given[i].owner) continue;
      sum = sum.owner ? emit<primitives::add>({sum, given[i]}) : given[i];
    }
    return sum.owner ? build::broadcast_to(sum, result.extents()) : sum;
  }

  /// The tangent by the `vjp` rule: the rule as a graph, which is differentiated by its cotangent.
  constexpr tracer transposed(node_id id, const growing_vector<tracer>& directions) {
    growing_vector<tracer> inputs = values.of(g().operands(id)), given(directions.size()), taken;
    const growing_vector<std::int64_t> parameters = copy_of(g().parameters(id));
    const tracer result = values[id];
    const operand_flags wanted = moving_operands(directions);
    const graph_id linear = trace.open_graph();
    const growing_vector<tracer> operands = vector_of(inputs, [&](const tracer& x) { return copy_as_input(x); });
    const tracer result_inside = copy_as_input(result), cotangent = copy_as_input(result);
    vjp_application application{trace, operands, result_inside, cotangent, wanted, given};
    rules_of(trace, g(), id).vjp(application, parameters);
    for (std::size_t i = 0; i < given.size(); ++i) {
      if (wanted[i] == 0 || !given[i].owner) continue;
      const bool is_scalar = operands[i].rank() == 0 && given[i].rank() > 0;
      add_output(trace, is_scalar ? build::sum_all(given[i]) : given[i]);
      taken.push_back(directions[i]);
    }
    trace.close_graph();
    if (trace.failed || taken.empty()) return {};
    inputs.push_back(result);
    inputs.push_back(varying_zeros_like(result));
    operand_flags by_cotangent(inputs.size());
    by_cotangent.back() = 1;
    reverse_pass pass(trace, linear, inputs, by_cotangent);
    axis_bits along = result.varies();
    if (is_kind(trace, g(), id, primitive_kind::collective)) along = along | mapped_axes_of(g(), id).bits(trace);
    return pass.backward(taken, along).back();
  }
  constexpr tracer copy_as_input(const tracer& x) { return new_input(trace, x.value()); }
};

/// A call's body with tangents. Behind its inputs it takes the tangents of its `moving_inputs`, and behind its outputs
/// it returns the tangents of those that depend on them.
struct body_with_tangents {
  result_flags moving{};
  graph_id body = graph_id::none;

  constexpr body_with_tangents(context& trace, graph_id of, const operand_flags& moving_inputs)
      : body_with_tangents(trace, of, moving_inputs, active_outputs(trace, of, moving_inputs)) {}
  /// As above, but `moving_outputs` says which outputs have tangents; tangents of outputs that depend on no moving
  /// input are zeros.
  constexpr body_with_tangents(context& trace, graph_id of, const operand_flags& moving_inputs,
                               result_flags moving_outputs)
      : moving(std::move(moving_outputs)) {
    body = trace.open_graph();
    growing_vector<tracer> inputs, directions;
    auto enter = [&](std::size_t k) { return new_input(trace, trace.at(of).value(trace.at(of).inputs[k])); };
    for (std::size_t k = 0; k < moving_inputs.size(); ++k) inputs.push_back(enter(k));
    for (std::size_t k = 0; k < moving_inputs.size(); ++k)
      directions.push_back(moving_inputs[k] != 0 ? enter(k) : tracer{});
    const forward_pass pass(trace, of, inputs, directions);
    if (!trace.failed) {
      for_each(pass.outputs, [&](const tracer& y) { add_output(trace, y); });
      for (std::size_t k = 0; k < moving.size(); ++k)
        if (moving[k] != 0)
          add_output(trace, vary_along(pass.tangents[k].owner ? pass.tangents[k] : build::zeros_like(pass.outputs[k]),
                                       pass.outputs[k].varies()));
    }
    trace.close_graph();
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::detail

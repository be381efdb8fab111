// Batching: a graph's results for a whole axis of inputs at once.
#pragma once

#include <parallax/core/support/flags.hpp>
#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/version.hpp>
#include <parallax/transforms/passes/replay.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// Batches the nodes of one graph. A node that depends on no mapped input stays unmapped.
class graph_batching {
 public:
  constexpr graph_batching(context& owner, graph_id graph_of_one, dim mapped_size, axis_id mapped_axis)
      : trace(owner), source(graph_of_one), size(mapped_size), axis(mapped_axis), values(owner.at(graph_of_one)) {}

  /// Appends the batched form of the graph to the innermost one; returns its outputs.
  constexpr growing_vector<batched> run(const growing_vector<batched>& inputs) {
    for (std::size_t k = 0; k < inputs.size(); ++k) values.set(body().inputs[k], inputs[k]);
    for_each(body().captures, [&](const capture& c) { values.set(c.inner, {{&trace, body().parent, c.outer}}); });
    const id_set<node_id> needed = body().needed();
    for_each(body().ids(), [&](node_id id) {
      if (!trace.failed && needed.contains(id) && !values.has(id)) append(id);
    });
    return values.of(body().outputs);
  }

 private:
  context& trace;
  graph_id source;
  dim size;
  axis_id axis;
  replacements<batched> values;

  /// Looked up again each time, as appending may move graphs.
  constexpr const graph& body() const { return trace.at(source); }

  constexpr void append(node_id id) {
    if (body().is_result(id)) return;
    const primitive_id primitive = body().primitive(id);
    const primitive_rules& rules = rules_of(trace, primitive);
    const growing_vector<batched> operands = values.of(body().operands(id));
    const growing_vector<std::int64_t> parameters = copy_of(body().parameters(id));
    const batch_application application{trace, primitive, operands, parameters, size, axis};
    if (rules.kind == primitive_kind::call) {
      const id_range<node_id> results = body().results_of(id);
      values.set(results, rules.call.batch(application, parameters));
    } else if (is_own_index(id)) {
      values.set(id, {emit<primitives::iota>(trace, {element_type::int32, 0, {size}}), 0});
    } else if (!is_mapped(id)) {
      const growing_vector<tracer> plain = vector_of(operands, [](const batched& x) { return x.value; });
      values.set(id, {emit(trace, primitive, plain, parameters)});
    } else if (can_batch(id, operands)) {
      values.set(id, rules.batch(application));
    }
  }
  /// Whether a node is the index along the mapped axis.
  constexpr bool is_own_index(node_id id) const {
    return is<primitives::axis_index>(body(), id) && parameters_of<primitives::axis_index>(body(), id).axis == axis;
  }
  constexpr bool goes_over_axis(node_id id) const {
    return is_kind(trace, body(), id, primitive_kind::collective) && mapped_axes_of(body(), id).contains(axis);
  }
  constexpr bool is_mapped(node_id id) const {
    for (node_id operand : body().operands(id))
      if (values[operand].is_mapped()) return true;
    return goes_over_axis(id);
  }
  constexpr bool can_batch(node_id id, const growing_vector<batched>& operands) {
    const primitive_rules& rules = rules_of(trace, body(), id);
    const bool is_collective = rules.kind == primitive_kind::collective;
    if (goes_over_axis(id) && mapped_axes_of(body(), id).has_groups()) {
      trace.fail(message() << rules.name
                           << ": axis_index_groups not supported in vmap collectives; map that axis with "
                              "pmap, or split it into two and name one of them");
      return false;
    }
    if (!is_collective && !check_rank(trace, rules.name, body().rank(id) + 1)) return false;
    if (!rules.has_batch)
      missing_rule(trace, body().primitive(id), "Batching", operands[0].value.value(), "apply it outside of vmap");
    return rules.has_batch;
  }
};

/// Appends the batched form of graph `body` to the innermost graph.
constexpr growing_vector<batched> batch_graph(context& trace, graph_id body, const growing_vector<batched>& inputs,
                                              dim size, axis_id mapped_axis) {
  return graph_batching(trace, body, size, mapped_axis).run(inputs);
}

/// New inputs of the innermost graph like those of `of_one`, the body of a call: mapped inputs get a new axis 0.
constexpr growing_vector<batched> mapped_inputs(const batch_application& a, graph_id of_one,
                                                const operand_flags& mapped) {
  growing_vector<batched> inputs;
  for (std::size_t k = 0; k < mapped.size(); ++k) {
    abstract_value value = a.trace.at(of_one).value(a.trace.at(of_one).inputs[k]);
    if (mapped[k] != 0) value.shape.insert(0, a.size);
    inputs.push_back({new_input(a.trace, value), mapped[k] != 0 ? 0 : unmapped});
  }
  return inputs;
}

/// Which operands of a call are mapped.
constexpr operand_flags mapped_operands(const batch_application& a) {
  operand_flags mapped(a.operands.size());
  for (std::size_t k = 0; k < a.operands.size(); ++k) mapped[k] = a.operands[k].is_mapped();
  return mapped;
}
/// The operands of a batch's call: mapped ones are mapped along axis 0.
constexpr growing_vector<tracer> operands_at_front(const batch_application& a, const operand_flags& mapped) {
  growing_vector<tracer> operands;
  for (std::size_t k = 0; k < a.operands.size(); ++k)
    operands.push_back(mapped[k] != 0 ? build::mapped_at(a.operands[k], 0, a.size) : a.operands[k].value);
  return operands;
}
/// The body of a batch's call: all outputs are mapped along axis 0.
constexpr graph_id batched_body(const batch_application& a, graph_id of_one, const operand_flags& mapped) {
  const graph_id made = a.trace.open_graph();
  for_each(batch_graph(a.trace, of_one, mapped_inputs(a, of_one, mapped), a.size, a.axis),
           [&](const batched& y) { add_output(a.trace, build::mapped_at(y, 0, a.size)); });
  a.trace.close_graph();
  return made;
}
/// Results that are all mapped along axis 0.
constexpr growing_vector<batched> at_front(const growing_vector<tracer>& values) {
  return vector_of(values, [](const tracer& y) { return batched{y, 0}; });
}

} // namespace parallax::PARALLAX_INLINE_VERSION::detail

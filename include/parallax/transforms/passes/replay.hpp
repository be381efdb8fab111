// Appending the nodes of one graph to another.
#pragma once

#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/version.hpp>
#include <parallax/primitives/append.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// The values that replace a graph's nodes in another graph.
template <class Value> class replacements {
 public:
  constexpr explicit replacements(const graph& source) : values(source.size()), known(source.size()) {}
  constexpr void set(node_id id, const Value& value) {
    values[id] = value;
    known.insert(id);
  }
  constexpr void set(id_range<node_id> ids, const growing_vector<Value>& all) {
    for (int i = 0; i < ids.size(); ++i) set(ids[i], all[index_of(i)]);
  }
  constexpr bool has(node_id id) const { return known.contains(id); }
  constexpr const Value& operator[](node_id id) const { return values[id]; }
  constexpr growing_vector<Value> of(plain_span<const node_id> ids) const {
    return vector_of(ids, [&](node_id id) { return values[id]; });
  }

 private:
  table<node_id, Value> values;
  id_set<node_id> known;
};

/// A copy that stays valid when the graph grows.
constexpr growing_vector<std::int64_t> copy_of(parameter_words words) { return {words.begin(), words.end()}; }

/// Appends node `id` of graph `source` to the innermost graph with its operands replaced, and with it all results of a
/// call.
constexpr void replay(context& trace, graph_id source, node_id id, replacements<tracer>& values) {
  const graph& g = trace.at(source);
  if (g.is_result(id)) return;
  const primitive_id primitive = g.primitive(id);
  const growing_vector<tracer> operands = values.of(g.operands(id));
  const growing_vector<std::int64_t> parameters = copy_of(g.parameters(id));
  if (rules_of(trace, primitive).kind == primitive_kind::call) {
    const id_range<node_id> results = g.results_of(id);
    values.set(results, emit_call(trace, primitive, operands, parameters));
  } else {
    values.set(id, emit(trace, primitive, operands, parameters));
  }
}

/// Appends the nodes that a graph's outputs need to the innermost graph, with `inputs` in place of the graph's own
/// inputs; returns the outputs.
constexpr growing_vector<tracer> replay_graph(context& trace, graph_id source, const growing_vector<tracer>& inputs) {
  replacements<tracer> values(trace.at(source));
  for (std::size_t k = 0; k < inputs.size(); ++k) values.set(trace.at(source).inputs[k], inputs[k]);
  for_each(trace.at(source).captures,
           [&](const capture& c) { values.set(c.inner, {&trace, trace.at(source).parent, c.outer}); });
  const id_set<node_id> needed = trace.at(source).needed();
  for_each(needed.ids(), [&](node_id id) {
    if (!trace.failed && needed.contains(id) && !values.has(id)) replay(trace, source, id, values);
  });
  return values.of(trace.at(source).outputs);
}

/// A new input of the innermost graph.
constexpr tracer new_input(context& trace, const abstract_value& value) {
  node_id id = trace.current().add_input(value);
  trace.current().inputs.push_back(id);
  return {&trace, trace.innermost(), id};
}

/// New inputs of the innermost graph like the given values.
constexpr growing_vector<tracer> inputs_like(context& trace, const growing_vector<tracer>& values) {
  return vector_of(values, [&](const tracer& x) { return new_input(trace, x.value()); });
}
/// New inputs of the innermost graph like those of another.
constexpr growing_vector<tracer> inputs_like(context& trace, graph_id other) {
  return vector_of(trace.at(other).inputs,
                   [&](node_id input) { return new_input(trace, trace.at(other).value(input)); });
}

/// A value as a call takes and returns it: its type no longer adapts to the types of other operands.
constexpr abstract_value strong(abstract_value value) {
  value.weak = false;
  return value;
}
/// The results of a call that returns its body's outputs.
constexpr growing_vector<abstract_value> results_of(const context& trace, graph_id body) {
  return vector_of(trace.at(body).outputs, [&](node_id output) { return strong(trace.at(body).value(output)); });
}

/// Marks a value as an output of the innermost graph.
constexpr void add_output(context& trace, tracer y) {
  node_id id = trace.import(y.scope, y.id);
  trace.current().outputs.push_back(id);
}

/// Makes captured values inputs like the others; returns the enclosing graph's nodes that they stand for.
constexpr growing_vector<tracer> captures_to_inputs(context& trace, graph_id body) {
  graph& g = trace.at(body);
  const growing_vector<tracer> outer = vector_of(g.captures, [&](const capture& c) {
    g.inputs.push_back(c.inner);
    return tracer{&trace, g.parent, c.outer};
  });
  g.captures.clear();
  return outer;
}

} // namespace parallax::PARALLAX_INLINE_VERSION::detail

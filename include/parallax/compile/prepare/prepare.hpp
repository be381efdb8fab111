// The graph as it is lowered: calls are prepared by their own rules, products have operands that can be read, and nodes
// without effect are left out.
#pragma once

#include <parallax/compile/prepare/mapped_section.hpp>
#include <parallax/compile/prepare/readable_products.hpp>
#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/version.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

class section_builder;

/// The program's graph ready to be lowered, and its sections.
struct prepared_program {
  graph_id root = graph_id::none;
  growing_vector<mapped_section> sections;
  growing_vector<graph_id> bodies; ///< of loops
};

/// Replays graphs as they are to be lowered. The rule `prepare` of a call is given this, to replay its bodies.
class preparation {
 public:
  context& trace;
  prepared_program result;
  section_builder* inside = nullptr; ///< the section that is being built

  constexpr explicit preparation(context& owner) : trace(owner) {}

  constexpr void run() {
    result.root = trace.open_graph();
    const auto inputs =
        vector_of(outermost().inputs, [&](node_id id) { return new_input(trace, outermost().value(id)); });
    const growing_vector<tracer> outputs = replay_graph(graph_id::outermost, inputs);
    if (!trace.failed) for_each(outputs, [&](tracer y) { add_output(trace, y); });
    trace.close_graph();
  }

  /// The operands of a call of the graph that is being replayed.
  constexpr growing_vector<tracer> operands(node_id call) const { return values->of(source_graph().operands(call)); }
  /// The types and shapes of a call's results.
  constexpr growing_vector<abstract_value> result_values(node_id call) const {
    return vector_of(source_graph().results_of(call), [&](node_id id) { return source_graph().value(id); });
  }
  constexpr void set_results(node_id call, const growing_vector<tracer>& results) {
    values->set(source_graph().results_of(call), results);
  }
  /// Appends a call that is to be lowered, in place of one of the graph that is being replayed.
  template <class Call> constexpr void replace_call(node_id call, const typename Call::parameters& parameters) {
    const growing_vector<node_id> ids = vector_of(operands(call), [](const tracer& x) { return x.id; });
    const node_id made =
        trace.current().add_call(primitives::id_of<Call>, ids, encode(parameters), result_values(call));
    set_results(call, vector_of(trace.current().results_of(made),
                                [&](node_id y) { return tracer{&trace, trace.innermost(), y}; }));
  }

  /// Appends a graph's needed nodes to the innermost graph; returns its outputs.
  constexpr growing_vector<tracer> replay_graph(graph_id graph_to_replay, const growing_vector<tracer>& inputs) {
    replacements<tracer> own(trace.at(graph_to_replay));
    replacements<tracer>* const values_before = values;
    const graph_id source_before = source;
    values = &own;
    source = graph_to_replay;
    for (std::size_t k = 0; k < inputs.size(); ++k) own.set(source_graph().inputs[k], inputs[k]);
    replay_nodes();
    growing_vector<tracer> outputs = own.of(source_graph().outputs);
    values = values_before;
    source = source_before;
    return outputs;
  }

 private:
  graph_id source = graph_id::outermost;
  replacements<tracer>* values = nullptr;

  /// Looked up again each time, as appending may move graphs.
  constexpr const graph& source_graph() const { return trace.at(source); }
  constexpr const graph& outermost() const { return trace.at(graph_id::outermost); }

  /// Whether a node has the same value as its operand: all derivatives have been taken, and weak types matter no more.
  constexpr bool is_its_operand(node_id id) const {
    const graph& g = source_graph();
    return is<primitives::stop_gradient>(g, id) || is<primitives::named>(g, id) ||
           (is<primitives::convert>(g, id) && g.type(g.operand(id, 0)) == g.type(id));
  }

  constexpr void replay_nodes() {
    const id_set<node_id> needed = source_graph().needed(), exchanged = find_exchanged(source_graph(), needed);
    for_each(source_graph().ids(), [&](node_id id) {
      if (!trace.failed && needed.contains(id) && !values->has(id)) replay_node(id, exchanged);
    });
  }
  constexpr void replay_node(node_id id, const id_set<node_id>& exchanged) {
    const graph& g = source_graph();
    auto is_exchanged = [&](node_id product) { return exchanged.contains(product); };
    if (is_kind(trace, g, id, primitive_kind::call)) {
      const growing_vector<std::int64_t> parameters = copy_of(g.parameters(id));
      rules_of(trace, g, id).call.prepare(*this, id, parameters);
    } else if (is<primitives::as_softmax>(g, id)) { // that is for derivatives, too
      values->set(id, (*values)[g.operand(id, 1)]);
    } else if (is_its_operand(id) || (is<primitives::transpose>(g, id) && is_exchanged(g.operand(id, 0)))) {
      values->set(id, (*values)[g.operand(id, 0)]);
    } else if (is<primitives::dot_general>(g, id)) {
      const tracer left = (*values)[g.operand(id, 0)], right = (*values)[g.operand(id, 1)];
      const auto axes = parameters_of<primitives::dot_general>(g, id);
      values->set(id, is_exchanged(id) ? readable_product(right, left, axes.exchanged())
                                       : readable_product(left, right, axes));
    } else {
      replay(trace, source, id, *values);
    }
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::detail

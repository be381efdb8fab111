// A call of a function whose derivatives are its user's own rules, while the function and the rules are traced.
#pragma once

#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/version.hpp>
#include <parallax/transforms/calls/custom_call.hpp>
#include <parallax/transforms/passes/callable.hpp>

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// A call of a function with rules, while its graphs are traced. All graphs take the same operands first.
class custom_trace {
 private:
  context& trace;

 public:
  growing_vector<tracer> leaves;   ///< of the arguments
  growing_vector<tracer> operands; ///< the leaves that are arrays, and the values that the graphs close over
  primitives::custom_call::parameters call;

  constexpr custom_trace(context& owner, growing_vector<tracer> given) : trace(owner), leaves(std::move(given)) {
    for_each(leaves, [&](const tracer& leaf) {
      if (!leaf.owner) return;
      operands.push_back(leaf);
      call.moving.push_back(has_derivatives(leaf.type()));
    });
  }

  /// Opens a graph of the arguments; returns its inputs, by leaf.
  constexpr growing_vector<tracer> open() {
    trace.open_graph();
    return inputs();
  }
  /// New inputs of the innermost graph for the arguments, by leaf.
  constexpr growing_vector<tracer> inputs() const {
    return vector_of(leaves, [&](const tracer& leaf) { return leaf.owner ? new_input(trace, leaf.value()) : leaf; });
  }
  /// Closes the innermost graph with its outputs.
  constexpr graph_id close(const growing_vector<tracer>& outputs) {
    const graph_id graph = trace.innermost();
    set_outputs(trace, outputs);
    trace.close_graph();
    return graph;
  }
  /// Makes the values that one graph closes over operands of the call, and inputs of all graphs that take operands. The
  /// new inputs come behind the operands so far, and before all other inputs.
  constexpr void take_captures(graph_id of, plain_span<const graph_id> others) {
    for_each(captures_to_inputs_from(of, operands.size()), [&](const tracer& closed_over) {
      for (const graph_id other : others) enter_next_operand(other, closed_over);
      add_unmoved_operand(closed_over);
    });
  }
  /// Makes the values that the way back closes over operands of the call. The forward rule returns them behind the
  /// `kept` values of its own.
  constexpr void keep_captures(graph_id forward, graph_id backward, std::size_t kept) {
    for_each(captures_to_inputs_from(backward, kept), [&](const tracer& closed_over) {
      enter_next_operand(call.body, closed_over);
      trace.at(forward).outputs.push_back(enter_next_operand(forward, closed_over));
      add_unmoved_operand(closed_over);
    });
  }
  constexpr growing_vector<tracer> emit() { return emit_call<primitives::custom_call>(trace, operands, call); }

 private:
  /// What a graph closes over becomes its inputs from this number on; returns the values.
  constexpr growing_vector<tracer> captures_to_inputs_from(graph_id of, std::size_t first) {
    const growing_vector<node_id> own = trace.at(of).inputs;
    const growing_vector<tracer> outer = captures_to_inputs(trace, of);
    const growing_vector<node_id> all = trace.at(of).inputs;
    growing_vector<node_id> ordered;
    for (std::size_t k = 0; k < first; ++k) ordered.push_back(own[k]);
    for (std::size_t k = own.size(); k < all.size(); ++k) ordered.push_back(all[k]);
    for (std::size_t k = first; k < own.size(); ++k) ordered.push_back(own[k]);
    trace.at(of).inputs = ordered;
    return outer;
  }
  /// A new input of a graph, behind those for the operands that there are.
  constexpr node_id enter_next_operand(graph_id of, const tracer& operand) {
    graph& g = trace.at(of);
    const node_id input = g.add_input(operand.value());
    growing_vector<node_id> inputs;
    for (std::size_t k = 0; k < g.inputs.size(); ++k) {
      if (k == operands.size()) inputs.push_back(input);
      inputs.push_back(g.inputs[k]);
    }
    if (operands.size() >= g.inputs.size()) inputs.push_back(input);
    g.inputs = inputs;
    return input;
  }
  constexpr void add_unmoved_operand(const tracer& operand) {
    operands.push_back(operand);
    call.moving.push_back(0);
  }
};

/// Traces the call of a function; `trace_rules(traced, result, args...)` traces its user's rules.
template <class Function, class TraceRules, class... Args>
constexpr auto trace_with_rules(const Function& function, const TraceRules& trace_rules, const Args&... args) {
  context& owner = trace_of_trees(args...);
  custom_trace traced(owner, leaves_to_tracers(owner, args...));
  const growing_vector<tracer> inputs = traced.open();
  auto result = call_on(owner, function, inputs, std::index_sequence_for<Args...>{}, std::type_identity<Args>{}...);
  growing_vector<tracer> values = tracers_of(result);
  traced.call.body = traced.close(values);
  if (!owner.failed) trace_rules(traced, result, args...);
  if (!owner.failed) values = traced.emit();
  return with_leaves(result, values);
}

/// The arguments as trees of the inputs of a graph.
template <class... Args> constexpr auto arguments_of(const growing_vector<tracer>& inputs, const Args&... args) {
  std::size_t next = 0;
  auto leaf = [&](const auto&) { return inputs[next++]; };
  return std::tuple<decltype(tree_map(leaf, args))...>{tree_map(leaf, args)...};
}

constexpr growing_vector<abstract_value> values_of_outputs(const context& trace, graph_id of) {
  return vector_of(trace.at(of).outputs, [&](node_id y) { return trace.at(of).value(y); });
}

template <class T> inline constexpr bool is_of_two = false;
template <class A, class B> inline constexpr bool is_of_two<std::pair<A, B>> = true;
template <class A, class B> inline constexpr bool is_of_two<std::tuple<A, B>> = true;

} // namespace parallax::PARALLAX_INLINE_VERSION::detail

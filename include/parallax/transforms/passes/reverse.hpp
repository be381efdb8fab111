// Reverse-mode differentiation of a graph.
#pragma once

#include <parallax/core/support/flags.hpp>
#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/version.hpp>
#include <parallax/transforms/passes/activity.hpp>
#include <parallax/transforms/passes/mesh_variation.hpp>
#include <parallax/transforms/passes/replay.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// Appends a graph's forward computation to the innermost graph at construction, its backward one on demand.
class reverse_pass {
 public:
  growing_vector<tracer> outputs;

  /// `inputs` stand for the graph's inputs; derivatives are taken with respect to those that are `wanted`.
  constexpr reverse_pass(context& owner, graph_id body, const growing_vector<tracer>& inputs,
                         const operand_flags& wanted)
      : trace(owner),
        source(body),
        forward(owner.at(body)),
        active(active_nodes(owner, body, wanted)),
        needed(owner.at(body).needed()) {
    for (std::size_t k = 0; k < inputs.size(); ++k) forward.set(g().inputs[k], inputs[k]);
    for_each(g().captures, [&](const capture& c) { forward.set(c.inner, {&trace, g().parent, c.outer}); });
    run_forward();
    outputs = forward.of(g().outputs);
  }

  /// The cotangents of the inputs, given those of the outputs; without an owner for an input that no output depends on.
  /// The given cotangents differ along the axes of meshes that their values vary along, and along `also`.
  constexpr growing_vector<tracer> backward(const growing_vector<tracer>& output_cotangents, axis_bits also = {}) {
    cotangents = table<node_id, cotangent_sum>(g().size());
    for (std::size_t k = 0; k < output_cotangents.size(); ++k)
      if (output_cotangents[k].owner)
        accumulate(g().outputs[k], output_cotangents[k], output_cotangents[k].varies() | also);
    for_each(g().ids().reversed(), [&](node_id id) {
      if (trace.failed || !active.contains(id) || !needed.contains(id) || !g().is_operation(id)) return;
      if (is_kind(trace, g(), id, primitive_kind::call)) call_backward(id);
      else if (cotangents[id].sum.owner) node_backward(id);
    });
    return vector_of(g().inputs, [&](node_id input) { return settle(input); });
  }

 private:
  struct differentiated_call {
    node_id node;
    linearized_call linear;
  };
  /// A node's cotangent so far. All instances use a value that they share along an axis; the sum over them is taken as
  /// late as possible.
  struct cotangent_sum {
    tracer sum;
    axis_bits pending; ///< axes along which the instances are still to be summed
  };

  context& trace;
  graph_id source;
  replacements<tracer> forward;
  id_set<node_id> active; ///< nodes that depend on a wanted input by floating values
  id_set<node_id> needed;
  growing_vector<differentiated_call> calls;
  table<node_id, cotangent_sum> cotangents;

  /// Looked up again each time, as appending may move graphs.
  constexpr const graph& g() const { return trace.at(source); }

  constexpr void run_forward() {
    for_each(g().ids(), [&](node_id id) {
      if (trace.failed || !needed.contains(id) || forward.has(id)) return;
      if (is_kind(trace, g(), id, primitive_kind::call) && active.contains(id)) call_forward(id);
      else replay(trace, source, id, forward);
    });
  }

  /// Adds a cotangent that differs along these axes to a node's.
  constexpr void accumulate(node_id id, tracer cotangent, axis_bits along) {
    if (!cotangent.owner || !active.contains(id)) return;
    // a scalar operand beside an array was used by every element
    if (g().rank(id) == 0 && cotangent.rank() > 0) cotangent = build::sum_all(cotangent);
    const axis_bits shared = along.without(forward[id].varies());
    auto& [sum, pending] = cotangents[id];
    if (!sum.owner) {
      sum = cotangent;
      pending = shared;
      return;
    }
    if (pending != shared) {
      cotangent = sum_of_instances(cotangent, shared);
      settle(id);
    }
    sum = emit<primitives::add>({sum, cotangent});
  }
  /// The cotangent of a node, summed over the instances along all axes along which its value is shared.
  constexpr tracer settle(node_id id) {
    auto& [sum, pending] = cotangents[id];
    if (sum.owner) sum = sum_of_instances(sum, pending);
    pending = {};
    return sum;
  }

  constexpr void node_backward(node_id id) {
    const primitive_rules& rules = rules_of(trace, g(), id);
    const growing_vector<node_id> ids(g().operands(id).begin(), g().operands(id).end());
    const growing_vector<tracer> operands = forward.of(ids);
    if (!rules.has_vjp) {
      missing_rule(trace, g().primitive(id), "Differentiation", operands[0].value(),
                   "put its operand into stop_gradient, or use another operation");
      return;
    }
    const operand_flags wanted = g().operands_in(active, id);
    growing_vector<tracer> given(ids.size());
    const bool is_collective = rules.kind == primitive_kind::collective;
    if (is_collective) settle(id);
    axis_bits along = cotangents[id].pending | forward[id].varies();
    if (is_collective) along = along | mapped_axes_of(g(), id).bits(trace);
    vjp_application application{trace, operands, forward[id], cotangents[id].sum, wanted, given};
    rules.vjp(application, copy_of(g().parameters(id)));
    for (std::size_t i = 0; i < ids.size(); ++i) accumulate(ids[i], given[i], along);
  }

  constexpr void call_forward(node_id id) {
    const growing_vector<tracer> operands = forward.of(g().operands(id));
    const operand_flags wanted = g().operands_in(active, id);
    const growing_vector<std::int64_t> parameters = copy_of(g().parameters(id));
    const id_range<node_id> results = g().results_of(id);
    const primitive_rules& rules = rules_of(trace, g(), id);
    linearized_call linear = rules.call.linearize(linearize_application{trace, operands, wanted}, parameters);
    if (trace.failed) return;
    forward.set(results, linear.results);
    calls.push_back({id, linear});
  }
  /// The backward half of a call. Results without a cotangent so far count as zeros.
  constexpr void call_backward(node_id id) {
    const linearized_call* linear = nullptr;
    for (const differentiated_call& call : calls)
      if (call.node == id) linear = &call.linear;
    if (!linear || linear->differentiated_operands.empty()) return;
    growing_vector<tracer> operands = linear->operands;
    bool any = false;
    for_each(linear->differentiated_results, [&](int k) {
      const node_id result = g().results_of(id)[k];
      tracer cotangent = settle(result);
      any = any || cotangent.owner;
      operands.push_back(cotangent.owner ? cotangent : build::zeros_like(forward[result]));
    });
    if (!any) return;
    const growing_vector<tracer> gradients = emit_call(trace, linear->backward, operands, linear->parameters);
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      const node_id operand = g().operand(id, linear->differentiated_operands[i]);
      accumulate(operand, build::convert(gradients[i], g().type(operand)), gradients[i].varies());
    }
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::detail

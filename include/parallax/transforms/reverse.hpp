// Reverse-mode differentiation of a graph.
#pragma once

#include <parallax/transforms/replay.hpp>

namespace parallax::detail {

/// The forward call of a differentiated pmap, and what its backward call needs.
struct linearized_call {
  int node = 0;                 ///< of the original graph
  call_parameters backward;     ///< without operands for what is not known yet
  std::vector<tracer> operands; ///< of the backward call: original operands and residuals; cotangents follow
  std::vector<int> differentiated_results;
  std::vector<abstract_value> result_values; ///< of those
  std::vector<int> differentiated_operands;
};

/// Appends a graph's forward computation to the innermost graph at construction, its backward one on demand.
class reverse_pass {
 public:
  std::vector<tracer> outputs;

  /// `inputs` stand for the graph's inputs; derivatives are taken with respect to those that are `wanted`.
  constexpr reverse_pass(context& owner, int body, const std::vector<tracer>& inputs, const std::vector<char>& wanted)
      : trace(owner),
        source(body),
        forward(owner.at(body)),
        active(owner.at(body).nodes.size(), 0),
        needed(owner.at(body).needed()) {
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      int id = trace.at(source).inputs[k];
      forward.set(id, inputs[k]);
      active[static_cast<std::size_t>(id)] = wanted[k] && is_floating(inputs[k].type());
    }
    for (const capture& c : trace.at(source).captures) forward.set(c.inner, {&trace, trace.at(source).parent, c.outer});
    run_forward();
    for (int output : trace.at(source).outputs) outputs.push_back(forward[output]);
  }

  /// The cotangents of the inputs, given those of the outputs; without an owner where the outputs do not depend on one.
  constexpr std::vector<tracer> backward(const std::vector<tracer>& output_cotangents) {
    std::vector<tracer> cotangents(trace.at(source).nodes.size());
    for (std::size_t k = 0; k < output_cotangents.size(); ++k)
      accumulate(cotangents, trace.at(source).outputs[k], output_cotangents[k]);
    for (int id = trace.at(source).size() - 1; id >= 0 && !trace.failed; --id) {
      std::size_t at = static_cast<std::size_t>(id);
      if (!active[at] || !needed[at]) continue;
      int operation = trace.at(source).at(id).operation;
      if (operation == primitives::number_of<primitives::pmap_call>) call_backward(id, cotangents);
      else if (operation >= 0 && operation != primitives::number_of<primitives::call_result> && cotangents[at].owner)
        node_backward(id, cotangents);
    }
    std::vector<tracer> results;
    for (int input : trace.at(source).inputs) results.push_back(cotangents[static_cast<std::size_t>(input)]);
    return results;
  }

 private:
  context& trace;
  int source;
  replacements<tracer> forward;
  std::vector<char> active;
  std::vector<char> needed;
  std::vector<linearized_call> calls;

  constexpr void run_forward() {
    for (int id = 0; id < trace.at(source).size() && !trace.failed; ++id) {
      std::size_t at = static_cast<std::size_t>(id);
      if (!needed[at]) continue;
      const graph& g = trace.at(source);
      int operation = g.at(id).operation;
      bool is_call = operation == primitives::number_of<primitives::pmap_call>;
      if (operation != primitives::number_of<primitives::stop_gradient> && (is_call || is_floating(g.at(id).type)))
        for (int operand : g.operands(id)) active[at] = active[at] || active[static_cast<std::size_t>(operand)];
      if (forward.has(id)) continue;
      if (is_call && active[at]) call_forward(id);
      else replay(trace, source, id, forward);
    }
  }

  constexpr void accumulate(std::vector<tracer>& cotangents, int id, tracer cotangent) {
    if (!cotangent.owner || !active[static_cast<std::size_t>(id)]) return;
    // a scalar operand beside an array was used by every element
    if (trace.at(source).at(id).rank == 0 && cotangent.rank() > 0) cotangent = build::sum_all(cotangent);
    tracer& sum = cotangents[static_cast<std::size_t>(id)];
    sum = sum.owner ? emit<primitives::add>({sum, cotangent}) : cotangent;
  }

  constexpr void node_backward(int id, std::vector<tracer>& cotangents) {
    const graph& g = trace.at(source);
    int operation = g.at(id).operation;
    std::vector<int> ids(g.operands(id).begin(), g.operands(id).end());
    std::vector<std::int64_t> parameters(g.parameters(id).begin(), g.parameters(id).end());
    std::vector<tracer> operands;
    std::vector<char> wanted;
    for (int operand : ids) {
      operands.push_back(forward[operand]);
      wanted.push_back(active[static_cast<std::size_t>(operand)]);
    }
    if (!rules_of(operation).vjp) {
      missing_rule(trace, operation, "Differentiation", operands[0].value(),
                   "put its operand into stop_gradient, or use another operation");
      return;
    }
    std::vector<tracer> given(ids.size());
    vjp_application application{trace,  operands, parameters, forward[id], cotangents[static_cast<std::size_t>(id)],
                                wanted, given};
    rules_of(operation).vjp(application);
    for (std::size_t i = 0; i < ids.size(); ++i) accumulate(cotangents, ids[i], given[i]);
  }

  constexpr void call_forward(int id);
  constexpr void call_backward(int id, std::vector<tracer>& cotangents);
};

/// Differentiates a pmap: the forward call also returns, and keeps on its devices, what the backward call reads; the
/// backward call runs as a pmap over the same axis. An unmapped operand's cotangent is summed over the axis.
constexpr void reverse_pass::call_forward(int id) {
  call_parameters call;
  std::vector<tracer> outer;
  std::vector<char> wanted;
  {
    const graph& g = trace.at(source);
    call = call_parameters::read(g.parameters(id));
    for (int operand : g.operands(id)) {
      outer.push_back(forward[operand]);
      wanted.push_back(active[static_cast<std::size_t>(operand)]);
    }
  }
  std::size_t result_count = call.out_axes.size();
  linearized_call record;
  record.node = id;

  // one graph that does both, to be cut in two
  int joint = trace.open_graph();
  std::vector<tracer> inputs;
  for (std::size_t k = 0; k < outer.size(); ++k)
    inputs.push_back(new_input(trace, trace.at(call.body).value(trace.at(call.body).inputs[k])));
  reverse_pass pass(trace, call.body, inputs, wanted);
  if (trace.failed) return trace.close_graph();
  int cut = trace.current().size();
  std::vector<tracer> seeds, cotangents(result_count);
  for (std::size_t k = 0; k < result_count; ++k) {
    if (!is_floating(pass.outputs[k].type())) continue;
    record.differentiated_results.push_back(static_cast<int>(k));
    abstract_value outside = pass.outputs[k].value();
    if (call.out_axes[k] >= 0) outside.shape.insert(call.out_axes[k], trace.axis_size(call.axis));
    record.result_values.push_back(outside);
    seeds.push_back(new_input(trace, pass.outputs[k].value()));
    cotangents[k] = seeds.back();
    if (call.out_axes[k] < 0) {
      // the unmapped result is instance 0's
      tracer index = emit<primitives::axis_index>(trace, {}, {call.axis});
      cotangents[k] = build::select(index == 0, seeds.back(), build::like(seeds.back(), 0));
    }
  }
  std::vector<tracer> gradients = pass.backward(cotangents);
  std::vector<int> gradient_ids;
  for (std::size_t k = 0; k < outer.size(); ++k) {
    if (!wanted[k] || !gradients[k].owner) continue;
    record.differentiated_operands.push_back(static_cast<int>(k));
    tracer gradient = gradients[k];
    if (call.in_axes[k] < 0) gradient = emit<primitives::psum>(trace, {gradient}, {1, call.axis, 0});
    gradient_ids.push_back(trace.import(gradient.graph_id, gradient.id));
    record.backward.out_axes.push_back(call.in_axes[k]);
  }
  trace.current().outputs = gradient_ids;
  trace.close_graph();
  if (trace.failed) return;

  // residuals: forward values that the backward half reads
  std::vector<char> live = trace.at(joint).needed();
  std::vector<char> residual(live.size(), 0);
  auto read_forward_value = [&](int operand) {
    const graph& g = trace.at(joint);
    if (operand < cut && g.at(operand).operation >= 0 &&
        rules_of(g.at(operand).operation).kind != primitive_kind::source)
      residual[static_cast<std::size_t>(operand)] = 1;
  };
  for (int k = cut; k < trace.at(joint).size(); ++k)
    if (live[static_cast<std::size_t>(k)])
      for (int operand : trace.at(joint).operands(k)) read_forward_value(operand);
  for (int gradient : gradient_ids) read_forward_value(gradient);

  auto copy_into = [&](replacements<tracer>& values, int node_id) {
    if (!values.has(node_id) && trace.at(joint).at(node_id).operation >= 0) replay(trace, joint, node_id, values);
  };
  // the forward half
  call_parameters first = call;
  first.body = trace.open_graph();
  replacements<tracer> values(trace.at(joint));
  for (const tracer& x : inputs) values.set(x.id, new_input(trace, x.value()));
  std::vector<char> wanted_nodes(static_cast<std::size_t>(cut), 0);
  for (const tracer& y : pass.outputs) wanted_nodes[static_cast<std::size_t>(y.id)] = 1;
  for (int k = cut - 1; k >= 0; --k) {
    std::size_t at = static_cast<std::size_t>(k);
    wanted_nodes[at] = wanted_nodes[at] || residual[at];
    if (wanted_nodes[at])
      for (int operand : trace.at(joint).operands(k)) wanted_nodes[static_cast<std::size_t>(operand)] = 1;
  }
  for (int k = 0; k < cut; ++k)
    if (wanted_nodes[static_cast<std::size_t>(k)]) copy_into(values, k);
  for (const tracer& y : pass.outputs) {
    tracer output = values[y.id];
    trace.current().outputs.push_back(trace.import(output.graph_id, output.id));
  }
  for (int k = 0; k < cut; ++k)
    if (residual[static_cast<std::size_t>(k)]) {
      trace.current().outputs.push_back(trace.import(values[k].graph_id, values[k].id));
      first.out_axes.push_back(0);
    }
  trace.close_graph();
  std::vector<tracer> results = append_call(trace, first, outer);
  for (int user = id + 1; user < trace.at(source).size(); ++user)
    if (trace.at(source).at(user).operation == primitives::number_of<primitives::call_result> &&
        trace.at(source).operand(user, 0) == id)
      forward.set(user, results[static_cast<std::size_t>(trace.at(source).parameter(user, 0))]);

  // the backward half: operands, residuals, cotangents
  record.backward.axis = call.axis;
  record.backward.devices = call.devices;
  record.backward.body = trace.open_graph();
  replacements<tracer> back(trace.at(joint));
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    back.set(inputs[k].id, new_input(trace, inputs[k].value()));
    record.operands.push_back(outer[k]);
    record.backward.in_axes.push_back(call.in_axes[k]);
  }
  std::size_t next = result_count;
  for (int k = 0; k < cut; ++k)
    if (residual[static_cast<std::size_t>(k)]) {
      back.set(k, new_input(trace, trace.at(joint).value(k)));
      record.operands.push_back(results[next++]);
      record.backward.in_axes.push_back(0);
    }
  std::size_t seed = 0;
  for (int k : record.differentiated_results) {
    back.set(seeds[seed].id, new_input(trace, seeds[seed].value()));
    ++seed;
    record.backward.in_axes.push_back(call.out_axes[static_cast<std::size_t>(k)]);
  }
  for (int k = 0; k < trace.at(joint).size(); ++k) {
    bool is_source = trace.at(joint).at(k).operation >= 0 &&
                     rules_of(trace.at(joint).at(k).operation).kind == primitive_kind::source;
    if (live[static_cast<std::size_t>(k)] && (k >= cut || is_source)) copy_into(back, k);
  }
  for (int gradient : gradient_ids)
    trace.current().outputs.push_back(trace.import(back[gradient].graph_id, back[gradient].id));
  trace.close_graph();
  calls.push_back(record);
}

constexpr void reverse_pass::call_backward(int id, std::vector<tracer>& cotangents) {
  linearized_call record;
  for (const linearized_call& call : calls)
    if (call.node == id) record = call;
  if (record.differentiated_operands.empty()) return;
  bool any = false;
  for (std::size_t i = 0; i < record.differentiated_results.size(); ++i) {
    int k = record.differentiated_results[i];
    const abstract_value& value = record.result_values[i];
    tracer cotangent;
    for (int user = id + 1; user < trace.at(source).size(); ++user) {
      const graph& g = trace.at(source);
      if (g.at(user).operation != primitives::number_of<primitives::call_result> || g.operand(user, 0) != id ||
          g.parameter(user, 0) != k)
        continue;
      if (cotangents[static_cast<std::size_t>(user)].owner) cotangent = cotangents[static_cast<std::size_t>(user)];
    }
    any = any || cotangent.owner;
    if (!cotangent.owner) cotangent = build::broadcast_to(build::literal(trace, value.type, 0), value.shape);
    record.operands.push_back(cotangent);
  }
  if (!any) return;
  std::vector<tracer> gradients = append_call(trace, record.backward, record.operands);
  std::vector<int> ids;
  for (int operand : trace.at(source).operands(id)) ids.push_back(operand);
  for (std::size_t i = 0; i < gradients.size(); ++i)
    accumulate(cotangents, ids[static_cast<std::size_t>(record.differentiated_operands[i])], gradients[i]);
}

} // namespace parallax::detail

// Batching: a graph's results for a whole axis of inputs at once.
#pragma once

#include <parallax/transforms/replay.hpp>

namespace parallax::detail {

constexpr std::vector<batched> batch_graph(context& trace, int body, const std::vector<batched>& inputs, dim size,
                                           int mapped_axis);

/// A mapped call of pmap: its body is batched, and the axes it maps move past the new one.
constexpr std::vector<batched> batch_call(context& trace, call_parameters call, const std::vector<batched>& operands,
                                          dim size, int mapped_axis) {
  int body = trace.open_graph();
  std::vector<batched> inputs;
  std::vector<tracer> outer;
  for (std::size_t k = 0; k < operands.size(); ++k) {
    const batched& x = operands[k];
    outer.push_back(x.value);
    const graph& old = trace.at(call.body);
    abstract_value value = old.value(old.inputs[k]);
    int inner = x.axis;
    if (x.axis >= 0) {
      int& mapped = call.in_axes[k];
      if (mapped >= 0 && x.axis <= mapped) ++mapped;
      else if (mapped >= 0) --inner;
      value.shape.insert(inner, size);
    }
    inputs.push_back({new_input(trace, value), inner});
  }
  std::vector<batched> outputs = batch_graph(trace, call.body, inputs, size, mapped_axis);
  for (const batched& y : outputs) trace.current().outputs.push_back(trace.import(y.value.graph_id, y.value.id));
  trace.close_graph();
  for (tracer closed_over : captures_to_inputs(trace, body)) {
    outer.push_back(closed_over);
    call.in_axes.push_back(-1);
  }
  call.body = body;
  std::vector<int> axes;
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    int axis = outputs[k].axis;
    int& mapped = call.out_axes[k];
    if (axis >= 0 && mapped >= 0) {
      if (axis < mapped) ++mapped;
      else ++axis;
    }
    axes.push_back(axis);
  }
  std::vector<tracer> results = append_call(trace, call, outer);
  std::vector<batched> all;
  for (std::size_t k = 0; k < results.size(); ++k) all.push_back({results[k], axes[k]});
  return all;
}

/// Whether a collective is among groups of the instances along an axis.
constexpr bool groups_along(std::span<const std::int64_t> parameters, int axis) {
  bool along = false;
  for (std::int64_t each : primitives::collective::axes(parameters)) along = along || each == axis;
  return along && primitives::collective::has_groups(parameters);
}

/// Appends the batched form of graph `body` to the innermost graph. What depends on no mapped input stays unmapped.
constexpr std::vector<batched> batch_graph(context& trace, int body, const std::vector<batched>& inputs, dim size,
                                           int mapped_axis) {
  replacements<batched> values(trace.at(body));
  for (std::size_t k = 0; k < inputs.size(); ++k) values.set(trace.at(body).inputs[k], inputs[k]);
  for (const capture& c : trace.at(body).captures) values.set(c.inner, {{&trace, trace.at(body).parent, c.outer}, -1});
  std::vector<char> needed = trace.at(body).needed();
  for (int id = 0; id < trace.at(body).size() && !trace.failed; ++id) {
    if (!needed[static_cast<std::size_t>(id)] || values.has(id)) continue;
    const graph& g = trace.at(body);
    int operation = g.at(id).operation;
    const primitive_rules& rules = rules_of(operation);
    std::vector<batched> operands;
    bool mapped = false;
    for (int operand : g.operands(id)) {
      operands.push_back(values[operand]);
      mapped = mapped || values[operand].axis >= 0;
    }
    std::vector<std::int64_t> parameters(g.parameters(id).begin(), g.parameters(id).end());
    if (rules.kind == primitive_kind::collective)
      for (std::int64_t axis : primitives::collective::axes(parameters)) mapped = mapped || axis == mapped_axis;
    if (operation == primitives::number_of<primitives::axis_index> && parameters[0] == mapped_axis) {
      values.set(id, {emit<primitives::iota>(trace, {}, {static_cast<std::int64_t>(element_type::int32), 0, size}), 0});
    } else if (rules.kind == primitive_kind::nested) {
      std::vector<batched> results = batch_call(trace, call_parameters::read(parameters), operands, size, mapped_axis);
      for (int user = id + 1; user < trace.at(body).size(); ++user)
        if (trace.at(body).at(user).operation == primitives::number_of<primitives::call_result> &&
            trace.at(body).operand(user, 0) == id)
          values.set(user, results[static_cast<std::size_t>(trace.at(body).parameter(user, 0))]);
    } else if (!mapped) {
      std::vector<tracer> plain;
      for (const batched& x : operands) plain.push_back(x.value);
      values.set(id, {emit(trace, operation, plain, parameters), -1});
    } else if (rules.kind == primitive_kind::collective && groups_along(parameters, mapped_axis)) {
      trace.fail(message() << rules.name
                           << ": axis_index_groups not supported in vmap collectives; map that axis with "
                              "pmap, or split it into two and name one of them");
    } else if (rules.kind != primitive_kind::collective && !check_rank(trace, rules.name, g.at(id).rank + 1)) {
      break;
    } else if (rules.batch) {
      values.set(id, rules.batch(batch_application{trace, operation, operands, parameters, size, mapped_axis}));
    } else {
      missing_rule(trace, operation, "Batching", operands[0].value.value(), "apply it outside of vmap");
    }
  }
  std::vector<batched> outputs;
  for (int output : trace.at(body).outputs) outputs.push_back(values[output]);
  return outputs;
}

} // namespace parallax::detail

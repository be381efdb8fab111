// Appending the nodes of one graph to another.
#pragma once

#include <parallax/primitives/rules.hpp>

#include <vector>

namespace parallax::detail {

/// What a pmap call's parameters say.
struct call_parameters {
  int axis = 0, body = 0, operand_count = 0, result_count = 0;
  std::vector<int> in_axes, out_axes;
  std::vector<std::int64_t> devices; ///< explicit ones, empty otherwise

  static constexpr call_parameters read(std::span<const std::int64_t> p) {
    call_parameters call;
    call.axis = static_cast<int>(p[0]);
    call.body = static_cast<int>(p[1]);
    call.operand_count = static_cast<int>(p[2]);
    call.result_count = static_cast<int>(p[3]);
    std::size_t at = 4;
    for (int i = 0; i < call.operand_count; ++i) call.in_axes.push_back(static_cast<int>(p[at++]));
    for (int i = 0; i < call.result_count; ++i) call.out_axes.push_back(static_cast<int>(p[at++]));
    while (at < p.size()) call.devices.push_back(p[at++]);
    return call;
  }
};

/// Appends a call of `call.body` and returns its results.
constexpr std::vector<tracer> append_call(context& trace, const call_parameters& call,
                                          const std::vector<tracer>& operands) {
  std::vector<std::int64_t> parameters{call.axis, call.body, static_cast<std::int64_t>(operands.size()),
                                       static_cast<std::int64_t>(call.out_axes.size())};
  for (int axis : call.in_axes) parameters.push_back(axis);
  for (int axis : call.out_axes) parameters.push_back(axis);
  for (std::int64_t device : call.devices) parameters.push_back(device);
  std::vector<int> ids;
  for (const tracer& x : operands) ids.push_back(trace.import(x.graph_id, x.id));
  int graph_id = trace.active.back();
  int node = trace.current().add(primitives::number_of<primitives::pmap_call>, ids, {}, parameters, true);
  std::vector<tracer> results;
  for (std::size_t k = 0; k < call.out_axes.size(); ++k) {
    const graph& body = trace.at(call.body);
    abstract_value value = body.value(body.outputs[k]);
    value.weak = false;
    if (call.out_axes[k] >= 0) value.shape.insert(call.out_axes[k], trace.axis_size(call.axis));
    if (!check_rank(trace, "pmap", value.rank())) value.shape.pop_back();
    std::int64_t number = static_cast<std::int64_t>(k);
    int id = trace.current().add(primitives::number_of<primitives::call_result>, std::span<const int>(&node, 1), value,
                                 std::span<const std::int64_t>(&number, 1));
    results.push_back({&trace, graph_id, id});
  }
  return results;
}

/// The values that stand for a graph's nodes elsewhere.
template <class Value> struct replacements {
  std::vector<Value> values;
  std::vector<char> known;

  constexpr explicit replacements(const graph& source) : values(source.nodes.size()), known(source.nodes.size(), 0) {}
  constexpr void set(int id, const Value& value) {
    values[static_cast<std::size_t>(id)] = value;
    known[static_cast<std::size_t>(id)] = 1;
  }
  constexpr bool has(int id) const { return known[static_cast<std::size_t>(id)] != 0; }
  constexpr const Value& operator[](int id) const { return values[static_cast<std::size_t>(id)]; }
};

/// Appends node `id` of graph `source` to the innermost graph with its operands replaced. Results of calls are found
/// among the replacements already.
constexpr void replay(context& trace, int source, int id, replacements<tracer>& values) {
  const graph& g = trace.at(source);
  int operation = g.at(id).operation;
  std::vector<tracer> operands;
  for (int operand : g.operands(id)) operands.push_back(values[operand]);
  std::vector<std::int64_t> parameters(g.parameters(id).begin(), g.parameters(id).end());
  if (operation == primitives::number_of<primitives::pmap_call>) {
    std::vector<tracer> results = append_call(trace, call_parameters::read(parameters), operands);
    const graph& again = trace.at(source);
    for (int user = id + 1; user < again.size(); ++user)
      if (again.at(user).operation == primitives::number_of<primitives::call_result> && again.operand(user, 0) == id)
        values.set(user, results[static_cast<std::size_t>(again.parameter(user, 0))]);
  } else if (operation != primitives::number_of<primitives::call_result>) {
    values.set(id, emit(trace, operation, operands, parameters));
  }
}

/// A new input of the innermost graph.
constexpr tracer new_input(context& trace, const abstract_value& value) {
  int id = trace.current().add(context::input_operation, {}, value, {}, true);
  trace.current().inputs.push_back(id);
  return {&trace, trace.active.back(), id};
}

/// Values closed over become inputs like the others; returns the enclosing graph's nodes they stand for.
constexpr std::vector<tracer> captures_to_inputs(context& trace, int body) {
  std::vector<tracer> outer;
  graph& g = trace.at(body);
  for (const capture& c : g.captures) {
    outer.push_back({&trace, g.parent, c.outer});
    g.inputs.push_back(c.inner);
  }
  g.captures.clear();
  return outer;
}

} // namespace parallax::detail

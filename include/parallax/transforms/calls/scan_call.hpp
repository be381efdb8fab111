// scan inside a program: a call whose body runs once for each slice of its stacked operands, one after another.
#pragma once

#include <parallax/core/support/flags.hpp>
#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/version.hpp>
#include <parallax/transforms/calls/linearize_checkpointed.hpp>
#include <parallax/transforms/calls/linearize_scan.hpp>
#include <parallax/transforms/calls/scan_parameters.hpp>
#include <parallax/transforms/passes/batch.hpp>
#include <parallax/transforms/passes/forward.hpp>
#include <parallax/transforms/passes/varying.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::primitives {

struct scan_call {
  static constexpr primitive_kind kind = primitive_kind::call;
  static constexpr std::string_view name = "scan";
  using parameters = parallax::detail::scan_parameters;

  static constexpr growing_vector<abstract_value> results(context& trace, plain_span<const abstract_value>,
                                                          const parameters& p) {
    const std::size_t carries = parallax::detail::operands_of(p.roles, scan_role::carry).size();
    growing_vector<abstract_value> values = parallax::detail::results_of(trace, p.body);
    for (std::size_t k = carries; k < values.size(); ++k) values[k].shape.insert(0, p.length);
    return values;
  }

  /// A carry is batched if its initial value is, or the value that a round makes of it. Slices stay along axis 0.
  static constexpr growing_vector<batched> batch(const batch_application& a, parameters p) {
    context& trace = a.trace;
    const growing_vector<int> carries = parallax::detail::operands_of(p.roles, scan_role::carry);
    operand_flags mapped = parallax::detail::mapped_operands(a);
    const graph_id of_one = p.body;
    growing_vector<batched> outputs;
    do {
      if (p.body != of_one) trace.close_graph(); // of fewer batched carries
      p.body = trace.open_graph();
      outputs = parallax::detail::batch_graph(trace, of_one, parallax::detail::mapped_inputs(a, of_one, mapped), a.size,
                                              a.axis);
    } while (!trace.failed &&
             parallax::detail::mark_carries(carries, mapped, [&](std::size_t c) { return outputs[c].is_mapped(); }));
    growing_vector<int> axes; // of the results
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      const bool is_carry = k < carries.size();
      const bool is_mapped = is_carry ? mapped[index_of(carries[k])] != 0 : outputs[k].is_mapped();
      parallax::detail::add_output(trace, is_mapped ? build::mapped_at(outputs[k], 0, a.size) : outputs[k].value);
      axes.push_back(!is_mapped ? unmapped : is_carry ? 0 : 1);
    }
    trace.close_graph();
    growing_vector<tracer> operands;
    for (std::size_t k = 0; k < a.operands.size(); ++k) {
      const int axis = p.roles[k] == scan_role::stacked ? 1 : 0;
      operands.push_back(mapped[k] != 0 ? build::mapped_at(a.operands[k], axis, a.size) : a.operands[k].value);
    }
    add_captures(trace, p, operands);
    const growing_vector<tracer> values = emit_call<scan_call>(trace, operands, p);
    growing_vector<batched> all;
    for (std::size_t k = 0; k < values.size(); ++k) all.push_back({values[k], axes[k]});
    return all;
  }

  static constexpr linearized_call linearize(const linearize_application& a, const parameters& p) {
    if (!p.slots.empty()) return parallax::detail::checkpointed_linearization(a, p).run();
    return parallax::detail::scan_linearization(a, p).run();
  }

  /// One loop over both values and tangents.
  static constexpr results_with_tangents jvp(const jvp_application& a, parameters p) {
    using namespace parallax::detail;
    context& trace = a.trace;
    const growing_vector<int> carries = operands_of(p.roles, scan_role::carry);
    const operand_flags inputs = moving_inputs(trace, a, p.body, p.roles);
    result_flags outputs = active_outputs(trace, p.body, inputs);
    set_carries(outputs, carries, inputs);
    p.body = body_with_tangents(trace, p.body, inputs, outputs).body;
    if (trace.failed) return {};
    for (std::size_t k = 0; k < inputs.size(); ++k)
      if (inputs[k] != 0) p.roles.push_back(p.roles[k]);
    // all carries come before the stacked outputs
    graph& body = trace.at(p.body);
    const growing_vector<node_id> made = body.outputs;
    growing_vector<int> order; // by output as made: its number now
    body.outputs.clear();
    for (const bool is_carry : {true, false}) {
      std::size_t tangent = outputs.size();
      for (std::size_t k = 0; k < outputs.size(); ++k)
        if ((k < carries.size()) == is_carry) body.outputs.push_back(made[k]);
      for (std::size_t k = 0; k < outputs.size(); ++k) {
        if (outputs[k] == 0) continue;
        if ((k < carries.size()) == is_carry) body.outputs.push_back(made[tangent]);
        ++tangent;
      }
    }
    const growing_vector<tracer> values = emit_call<scan_call>(trace, operands_with_tangents(a, inputs), p);
    results_with_tangents both;
    std::size_t value = 0, tangent = carries.size();
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      if (k == carries.size()) {
        value = tangent;
        tangent = value + outputs.size() - carries.size();
      }
      both.results.push_back(values[value++]);
      both.tangents.push_back(outputs[k] != 0 ? values[tangent++] : tracer{});
    }
    return both;
  }

  static constexpr result_flags varies(const variation& v, const operand_flags& operands, const parameters& p) {
    const growing_vector<int> carries = parallax::detail::operands_of(p.roles, scan_role::carry);
    operand_flags inputs = operands;
    result_flags outputs;
    do outputs = parallax::detail::varies_along(v, p.body, inputs);
    while (parallax::detail::mark_carries(carries, inputs, [&](std::size_t c) { return outputs[c] != 0; }));
    parallax::detail::set_carries(outputs, carries, inputs); // if no round runs
    return outputs;
  }

  // Defined where graphs are prepared, and where they are lowered.
  static constexpr void prepare(parallax::detail::preparation&, node_id call, const parameters&);
  static constexpr void lower(parallax::detail::section_planner&, node_id call, const parameters&);

  /// Makes the values that the body closes over operands.
  static constexpr void add_captures(context& trace, parameters& p, growing_vector<tracer>& operands) {
    parallax::detail::for_each(parallax::detail::captures_to_inputs(trace, p.body), [&](tracer closed_over) {
      operands.push_back(closed_over);
      p.roles.push_back(scan_role::constant);
    });
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::primitives

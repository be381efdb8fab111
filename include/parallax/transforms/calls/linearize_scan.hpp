// The derivative of a scan: two loops.
#pragma once

#include <parallax/core/support/flags.hpp>
#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>
#include <parallax/transforms/calls/scan_parameters.hpp>
#include <parallax/transforms/passes/activity.hpp>
#include <parallax/transforms/passes/joint_program.hpp>
#include <parallax/transforms/passes/mesh_variation.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// The forward loop also stacks the values that the backward loop reads. The backward loop goes through the rounds from
/// the other end: it carries the cotangents of the carries and the sums of the constants' cotangents, and stacks the
/// cotangents of slices. Sums of 16 bits are float32, and their readers round them.
class scan_linearization {
 public:
  constexpr scan_linearization(const linearize_application& application, const scan_parameters& parameters)
      : trace(application.trace),
        operands(application.operands),
        p(parameters),
        carries(operands_of(parameters.roles, scan_role::carry)),
        wanted(application.wanted),
        active(find_active()),
        joint(
            trace, p.body, wanted, [](std::size_t, tracer x) { return x; }, [](std::size_t, tracer x) { return x; }) {}

  constexpr linearized_call run() {
    if (trace.failed) return {};
    joint.compute_cheap_values_again([&](std::size_t k) {
      const bool is_computed = !operands[k].home().is_input(operands[k].id);
      const bool is_stacked = p.roles[k] == scan_role::stacked;
      return p.roles[k] == scan_role::carry || (is_stacked && is_computed) ? input_place::kept : input_place::at_hand;
    });
    half = joint.backward_half();
    needed = trace.at(half).needed();
    linear.backward = primitives::id_of<primitives::scan_call>;
    run_forward();
    make_backward();
    linear.parameters = encode(backward);
    return linear;
  }

 private:
  context& trace;
  plain_span<const tracer> operands;
  const scan_parameters& p;
  growing_vector<int> carries;
  operand_flags wanted; ///< a carry also if some round makes it depend on a wanted one
  result_flags active;
  joint_program joint;
  graph_id half = graph_id::none; ///< the backward half of the body
  id_set<node_id> needed;         ///< of its nodes
  linearized_call linear;
  scan_parameters backward;
  growing_vector<tracer> before;     ///< by operand: the stacked values of carries that the backward loop reads
  growing_vector<tracer> residuals;  ///< stacked
  growing_vector<tracer> first_sums; ///< of constants' cotangents
  growing_vector<tracer> inputs;     ///< of `half`, inside the backward loop
  growing_vector<tracer> computed;   ///< by operand: its cotangent, inside the backward loop

  /// An operand of the backward loop.
  struct entered {
    scan_role role = scan_role::constant;
    tracer operand{};     ///< without an owner for the cotangent of a result: the caller passes these behind the others
    int result = -1;      ///< of such a cotangent: the result of the forward loop
    int gradient_of = -1; ///< of a carry: the operand of the forward loop whose cotangent the rounds compute
    tracer sum{};         ///< of a carry to which rounds add: its value inside the backward loop
  };
  growing_vector<entered> entries; ///< in the order of the backward loop's operands

  constexpr result_flags find_active() {
    result_flags found;
    do found = active_outputs(trace, p.body, wanted);
    while (mark_carries(carries, wanted, [&](std::size_t c) { return found[c] != 0; }));
    return found;
  }

  constexpr abstract_value value_of_input(std::size_t k) const {
    return trace.at(half).value(trace.at(half).inputs[k]);
  }
  constexpr bool reads(std::size_t k) const { return needed.contains(trace.at(half).inputs[k]); }

  constexpr void run_forward() {
    const std::size_t result_count = trace.at(p.body).outputs.size();
    scan_parameters forward = p;
    forward.body = joint.forward_half();
    growing_vector<int> kept;
    for_each(carries, [&](int k) {
      if (!reads(index_of(k))) return;
      kept.push_back(k);
      graph& g = trace.at(forward.body);
      g.outputs.push_back(g.inputs[index_of(k)]);
    });
    const growing_vector<tracer> values =
        emit_call(trace, primitives::id_of<primitives::scan_call>, operands, encode(forward));
    before.resize(operands.size());
    const std::size_t behind = result_count + index_of(joint.residual_count());
    for (std::size_t k = 0; k < values.size(); ++k)
      (k < result_count ? linear.results : residuals).push_back(values[k]);
    for (std::size_t k = 0; k < kept.size(); ++k) before[index_of(kept[k])] = values[behind + k];
    residuals.resize(index_of(joint.residual_count()));
  }

  constexpr void make_backward() {
    backward.length = p.length;
    backward.reverse = !p.reverse;
    make_first_sums();
    backward.body = trace.open_graph();
    for (std::size_t k = 0; k < operands.size(); ++k) enter_operand(k);
    for_each(residuals, [&](tracer residual) { enter({scan_role::stacked, residual}); });
    enter_sums();
    enter_cotangents();
    pass_entries_on();
    const growing_vector<tracer> gradients = replay_graph(trace, half, inputs);
    if (!trace.failed) return_gradients(gradients);
    trace.close_graph();
  }
  /// Makes the lists that the backward loop and its caller go by, in the order of the entries.
  constexpr void pass_entries_on() {
    for_each(entries, [&](const entered& each) {
      backward.roles.push_back(each.role);
      if (each.result < 0) linear.operands.push_back(each.operand);
      else linear.differentiated_results.push_back(each.result);
      if (each.gradient_of >= 0) linear.differentiated_operands.push_back(each.gradient_of);
    });
  }
  /// The backward loop's body returns the carries in the order of their entries, and then the cotangents of slices.
  constexpr void return_gradients(const growing_vector<tracer>& gradients) {
    computed.resize(operands.size());
    for (std::size_t i = 0; i < gradients.size(); ++i)
      computed[index_of(joint.differentiated_inputs[i])] = gradients[i];
    for_each(entries, [&](const entered& each) {
      if (each.gradient_of < 0) return;
      const std::size_t k = index_of(each.gradient_of);
      add_output(trace, each.result < 0 ? with_addend(each.sum, computed[k]) : gradient_of_carry(k));
    });
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      if (role_of(joint.differentiated_inputs[i]) != scan_role::stacked) continue;
      add_output(trace, gradients[i]);
      linear.differentiated_operands.push_back(joint.differentiated_inputs[i]);
    }
  }
  static constexpr tracer with_addend(tracer sum, tracer gradient) {
    const tracer addend = build::convert_unrounded(gradient, sum.type());
    return vary_along(emit<primitives::add>({sum, addend}), sum.varies());
  }
  /// A carry's cotangent before a round: zeros if the round's results do not depend on the carry.
  constexpr tracer gradient_of_carry(std::size_t k) const {
    const abstract_value value = value_of_input(k);
    return vary_along(computed[k].owner != nullptr ? computed[k] : build::zeros(trace, value), value.varies);
  }

  constexpr scan_role role_of(int operand) const { return p.roles[index_of(operand)]; }

  /// The next input of `half` is an operand of the backward loop.
  constexpr void enter(const entered& one) {
    entries.push_back(one);
    inputs.push_back(new_input(trace, value_of_input(inputs.size())));
  }
  /// The next input of `half` is not read: it is zeros.
  constexpr void leave_out() { inputs.push_back(build::zeros(trace, value_of_input(inputs.size()))); }

  constexpr void enter_operand(std::size_t k) {
    if (!reads(k)) return leave_out();
    switch (p.roles[k]) {
    case scan_role::constant: return enter({scan_role::constant, operands[k]});
    case scan_role::carry: return enter({scan_role::stacked, before[k]});
    case scan_role::stacked: return enter({scan_role::stacked, operands[k]});
    }
  }
  constexpr void make_first_sums() {
    for_each(joint.differentiated_inputs, [&](int k) {
      if (role_of(k) == scan_role::constant)
        first_sums.push_back(build::zeros(trace, build::widen(operands[index_of(k)].value())));
    });
  }
  /// Enters carries for the sums of the constants' cotangents, which `half` does not take.
  constexpr void enter_sums() {
    std::size_t next = 0;
    for_each(joint.differentiated_inputs, [&](int k) {
      if (role_of(k) != scan_role::constant) return;
      const tracer sum = new_input(trace, build::widen(value_of_input(index_of(k))));
      entries.push_back({.role = scan_role::carry, .operand = first_sums[next++], .gradient_of = k, .sum = sum});
    });
  }
  /// Enters the cotangents of the results.
  constexpr void enter_cotangents() {
    for_each(joint.differentiated_results, [&](int result) {
      const bool is_carry = index_of(result) < carries.size();
      const int operand = is_carry ? carries[index_of(result)] : -1;
      const bool counts = is_carry ? wanted[index_of(operand)] != 0 : active[index_of(result)] != 0;
      if (!counts) return leave_out();
      enter({.role = is_carry ? scan_role::carry : scan_role::stacked, .result = result, .gradient_of = operand});
    });
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::detail

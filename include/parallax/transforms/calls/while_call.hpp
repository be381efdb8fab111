// while_loop inside a program: a call whose body runs as long as its predicate holds.
#pragma once

#include <parallax/core/support/flags.hpp>
#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/version.hpp>
#include <parallax/transforms/calls/scan_parameters.hpp>
#include <parallax/transforms/passes/batch.hpp>
#include <parallax/transforms/passes/forward.hpp>
#include <parallax/transforms/passes/joint_program.hpp>
#include <parallax/transforms/passes/varying.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::primitives {

struct while_call {
  static constexpr primitive_kind kind = primitive_kind::call;
  static constexpr std::string_view name = "while";

  /// Both graphs take the operands, constants and carries. The predicate returns a boolean number, the body the
  /// carries.
  struct parameters {
    growing_vector<scan_role> roles{};
    graph_id predicate = graph_id::none, body = graph_id::none;

    static constexpr void describe(auto& p, auto& member) {
      member("roles", p.roles);
      member("predicate", p.predicate);
      member("body", p.body);
    }
  };

  static constexpr growing_vector<abstract_value> results(context& trace, plain_span<const abstract_value>,
                                                          const parameters& p) {
    return parallax::detail::results_of(trace, p.body);
  }

  /// If the predicate is batched, rounds go on until it holds for no element; the carries of elements that are done
  /// stay.
  static constexpr growing_vector<batched> batch(const batch_application& a, parameters p) {
    using namespace parallax::detail;
    context& trace = a.trace;
    const growing_vector<int> carries = operands_of(p.roles, scan_role::carry);
    operand_flags mapped = mapped_operands(a);
    const parameters of_one = p;
    bool differs = false; // the predicate, between elements
    while (!trace.failed) {
      p.predicate = trace.open_graph();
      const batched holds =
          batch_graph(trace, of_one.predicate, mapped_inputs(a, of_one.body, mapped), a.size, a.axis)[0];
      differs = holds.is_mapped();
      add_output(trace, differs ? any_of(holds) : holds.value);
      trace.close_graph();
      if (differs && mark_carries(carries, mapped, [](std::size_t) { return true; })) continue;
      p.body = trace.open_graph();
      const growing_vector<batched> inputs = mapped_inputs(a, of_one.body, mapped);
      const growing_vector<batched> next = batch_graph(trace, of_one.body, inputs, a.size, a.axis);
      if (mark_carries(carries, mapped, [&](std::size_t c) { return next[c].is_mapped(); })) {
        trace.close_graph();
        continue;
      }
      const batched going = differs ? batch_graph(trace, of_one.predicate, inputs, a.size, a.axis)[0] : batched{};
      for (std::size_t c = 0; c < carries.size(); ++c) {
        const auto k = index_of(carries[c]);
        if (mapped[k] == 0) add_output(trace, next[c].value);
        else if (!differs) add_output(trace, build::mapped_at(next[c], 0, a.size));
        else add_output(trace, chosen(going, build::mapped_at(next[c], 0, a.size), inputs[k].value, a.size));
      }
      trace.close_graph();
      break;
    }
    if (trace.failed) return growing_vector<batched>(carries.size());
    growing_vector<tracer> operands = operands_at_front(a, mapped);
    add_captures(trace, p, operands);
    const growing_vector<tracer> values = emit_call<while_call>(trace, operands, p);
    growing_vector<batched> all;
    for (std::size_t c = 0; c < values.size(); ++c)
      all.push_back({values[c], mapped[index_of(carries[c])] != 0 ? 0 : unmapped});
    return all;
  }

  static constexpr linearized_call linearize(const linearize_application& a, const parameters&) {
    a.trace.fail(
        message() << "grad: while_loop has no reverse mode, nor has fori_loop with a bound that is data, since "
                     "nothing says how many rounds to keep; use fori_loop or scan with a number of rounds that "
                     "is known, such as plx::count(n), or forward mode; the way back of checkpointed_scan is "
                     "such a loop, so use scan for a gradient of its gradient");
    return {};
  }

  /// The tangents are carries too; the predicate does not see them.
  static constexpr results_with_tangents jvp(const jvp_application& a, parameters p) {
    using namespace parallax::detail;
    context& trace = a.trace;
    const growing_vector<int> carries = operands_of(p.roles, scan_role::carry);
    const operand_flags inputs = moving_inputs(trace, a, p.body, p.roles);
    result_flags outputs(carries.size());
    set_carries(outputs, carries, inputs);
    p.body = body_with_tangents(trace, p.body, inputs, outputs).body;
    if (trace.failed) return {};
    const graph_id predicate = p.predicate;
    p.predicate = trace.open_graph();
    growing_vector<tracer> entered = inputs_like(trace, p.body);
    entered.resize(inputs.size());
    add_output(trace, replay_graph(trace, predicate, entered)[0]);
    trace.close_graph();
    for (std::size_t k = 0; k < inputs.size(); ++k)
      if (inputs[k] != 0) p.roles.push_back(p.roles[k]);
    return results_with_tangents::of(emit_call<while_call>(trace, operands_with_tangents(a, inputs), p), outputs);
  }

  /// If the predicate differs between instances, no collective may be inside: instances that are done would not come to
  /// it.
  static constexpr result_flags varies(const variation& v, const operand_flags& operands, const parameters& p) {
    using namespace parallax::detail;
    const growing_vector<int> carries = operands_of(p.roles, scan_role::carry);
    operand_flags inputs = operands;
    result_flags outputs;
    bool differs = false;
    do {
      differs = varies_along(v, p.predicate, inputs)[0] != 0;
      outputs = varies_along(v, p.body, inputs);
    } while (mark_carries(carries, inputs, [&](std::size_t c) { return differs || outputs[c] != 0; }));
    if (differs) {
      const variation apart{v.trace, v.axis, "a loop: the number of rounds"};
      varies_along(apart, p.predicate, inputs);
      varies_along(apart, p.body, inputs);
    }
    set_carries(outputs, carries, inputs);
    return outputs;
  }

  // Defined where graphs are prepared, and where they are lowered.
  static constexpr void prepare(parallax::detail::preparation&, node_id call, const parameters&);
  static constexpr void lower(parallax::detail::section_planner&, node_id call, const parameters&);

  /// Makes the values that either graph closes over operands of both.
  static constexpr void add_captures(context& trace, parameters& p, growing_vector<tracer>& operands) {
    using namespace parallax::detail;
    auto take = [&](graph_id from, graph_id other) {
      for_each(captures_to_inputs(trace, from), [&](tracer closed_over) {
        graph& g = trace.at(other);
        g.inputs.push_back(g.add_input(closed_over.value()));
        operands.push_back(closed_over);
        p.roles.push_back(scan_role::constant);
      });
    };
    take(p.predicate, p.body);
    take(p.body, p.predicate);
  }

 private:
  static constexpr tracer any_of(const batched& x) {
    const tracer numbers = build::convert(build::mapped_at(x, 0, x.value.dimension(x.axis)), element_type::int32);
    const tracer most = build::reduce<reduce_max>(numbers, all_axes(numbers.rank()));
    return emit<greater>({most, build::like(most, 0)});
  }
  /// The elements of `next` where `going` holds, those of `before` elsewhere; both are mapped along axis 0.
  static constexpr tracer chosen(const batched& going, tracer next, tracer before, dim size) {
    const tracer condition = build::broadcast_in_dim(build::mapped_at(going, 0, size), next.extents(), {0});
    return build::select(condition, next, before);
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::primitives

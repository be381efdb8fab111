// A call member that exists for its test only: a function applied several times, f(f(...f(x))). This file and its name
// in the catalogue are all that it takes.
#pragma once

#include <parallax/compile/prepare/prepare.hpp>
#include <parallax/core/version.hpp>
#include <parallax/transforms/passes/batch.hpp>
#include <parallax/transforms/passes/forward.hpp>
#include <parallax/transforms/passes/joint_program.hpp>
#include <parallax/transforms/passes/varying.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::primitives {

struct applied_call {
  static constexpr primitive_kind kind = primitive_kind::call;
  static constexpr std::string_view name = "applied";
  struct parameters {
    int times = 1;
    graph_id body = graph_id::none;
    static constexpr void describe(auto& p, auto& member) {
      member("times", p.times);
      member("body", p.body);
    }
  };

  static constexpr growing_vector<abstract_value> results(context& trace, plain_span<const abstract_value>,
                                                          const parameters& p) {
    growing_vector<abstract_value> values;
    for (node_id output : trace.at(p.body).outputs) values.push_back(trace.at(p.body).value(output));
    return values;
  }
  /// Every operand and every result is mapped, along axis 0.
  static constexpr growing_vector<batched> batch(const batch_application& a, const parameters& p) {
    growing_vector<tracer> operands;
    for (const batched& x : a.operands) operands.push_back(build::mapped_at(x, 0, a.size));
    const graph_id body = a.trace.open_graph();
    growing_vector<batched> inputs;
    for (const tracer& x : operands) inputs.push_back({parallax::detail::new_input(a.trace, x.value()), 0});
    for (const batched& y : parallax::detail::batch_graph(a.trace, p.body, inputs, a.size, a.axis))
      parallax::detail::add_output(a.trace, build::mapped_at(y, 0, a.size));
    a.trace.close_graph();
    growing_vector<batched> all;
    for (const tracer& y : emit_call<applied_call>(a.trace, operands, {p.times, body})) all.push_back({y, 0});
    return all;
  }
  static constexpr linearized_call linearize(const linearize_application& a, const parameters& p) {
    auto same = [](std::size_t, tracer x) { return x; };
    parallax::detail::joint_program joint(a.trace, all_times(a.trace, a.operands, p), a.wanted, same, same);
    if (a.trace.failed) return {};
    const std::size_t results = a.trace.at(p.body).outputs.size();
    const auto values = emit_call<applied_call>(a.trace, a.operands, {1, joint.forward_half()});
    linearized_call linear{.backward = id_of<applied_call>,
                           .parameters = encode(parameters{1, joint.backward_half()}),
                           .operands = {a.operands.begin(), a.operands.end()},
                           .differentiated_results = joint.differentiated_results,
                           .differentiated_operands = joint.differentiated_inputs};
    for (std::size_t k = 0; k < values.size(); ++k)
      (k < results ? linear.results : linear.operands).push_back(values[k]);
    return linear;
  }
  static constexpr results_with_tangents jvp(const jvp_application& a, const parameters& p) {
    const parallax::detail::body_with_tangents both(a.trace, all_times(a.trace, a.operands, p), a.moving());
    if (a.trace.failed) return {};
    return results_with_tangents::of(emit_call<applied_call>(a.trace, a.operands_with_tangents(), {1, both.body}),
                                     both.moving);
  }
  static constexpr result_flags varies(const variation& v, const operand_flags& operands, const parameters& p) {
    result_flags made = parallax::detail::varies_along(v, p.body, operands);
    for (int time = 1; time < p.times; ++time)
      made = parallax::detail::varies_along(v, p.body, parallax::detail::as_operands(made));
    return made;
  }
  static constexpr void prepare(parallax::detail::preparation& all, node_id call, const parameters& p) {
    growing_vector<tracer> values = all.operands(call);
    for (int time = 0; time < p.times; ++time) values = all.replay_graph(p.body, values);
    all.set_results(call, values);
  }
  static constexpr prepared_away lower{};

 private:
  /// The body as often as it is applied, as one graph.
  static constexpr graph_id all_times(context& trace, plain_span<const tracer> operands, const parameters& p) {
    const graph_id whole = trace.open_graph();
    growing_vector<tracer> values;
    for (const tracer& x : operands) values.push_back(parallax::detail::new_input(trace, x.value()));
    for (int time = 0; time < p.times; ++time) values = parallax::detail::replay_graph(trace, p.body, values);
    for (const tracer& y : values) parallax::detail::add_output(trace, y);
    trace.close_graph();
    return whole;
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::primitives

/// f(f(...f(x))), `Times` times, of one array.
template <int Times, class F> constexpr parallax::tracer applied(F f, parallax::tracer x) {
  parallax::detail::context& trace = *x.owner;
  const parallax::detail::graph_id body = trace.open_graph();
  parallax::detail::add_output(trace, f(parallax::detail::new_input(trace, x.value())));
  trace.close_graph();
  return parallax::detail::emit_call<parallax::primitives::applied_call>(
      trace, parallax::detail::plain_span<const parallax::tracer>(&x, 1), {Times, body})[0];
}

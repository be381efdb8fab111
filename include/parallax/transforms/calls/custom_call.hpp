// A function inside a program with derivatives of its user's own: a call that owns a graph for each pass.
#pragma once

#include <parallax/core/support/flags.hpp>
#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/version.hpp>
#include <parallax/transforms/passes/batch.hpp>
#include <parallax/transforms/passes/forward.hpp>
#include <parallax/transforms/passes/joint_program.hpp>
#include <parallax/transforms/passes/varying.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::primitives {

/// The base of calls whose results are those of their `body`, and which preparation replaces.
struct body_call {
  static constexpr primitive_kind kind = primitive_kind::call;
  static constexpr growing_vector<abstract_value> results(context& trace, plain_span<const abstract_value>,
                                                          const auto& parameters) {
    return parallax::detail::results_of(trace, parameters.body);
  }
  static constexpr result_flags varies(const variation& v, const operand_flags& operands, const auto& parameters) {
    return parallax::detail::varies_along(v, parameters.body, operands);
  }
  static constexpr prepared_away lower{};
};

struct custom_call : body_call {
  static constexpr std::string_view name = "custom";

  /// A list of graphs has one, or none if there is no such rule. Without any rule, derivatives are those of the body.
  struct parameters {
    graph_id body = graph_id::none;      ///< from operands to results
    growing_vector<graph_id> tangents{}; ///< from operands and tangents of the moving ones to results and tangents
    growing_vector<graph_id> forward{};  ///< from operands to results and residuals
    growing_vector<graph_id> backward{}; ///< from residuals and cotangents of floating results to those of operands
    operand_flags moving{};              ///< operands that the rules give derivatives for
    /// Rules get the results, before the operands: `tangents` then returns tangents alone, and `backward` gets results
    /// and operands without a `forward`. So rules of rules call the function again, however it works.
    bool sees_results = false;

    constexpr bool has_rules() const { return !tangents.empty() || !backward.empty(); }
    static constexpr void describe(auto& p, auto& member) {
      member("body", p.body);
      member("tangents", p.tangents);
      member("forward", p.forward);
      member("backward", p.backward);
      member("moving", p.moving);
      member("sees_results", p.sees_results);
    }
  };

  // Before it is called: clang++ does not find it in constant expressions otherwise.
  struct batched_outputs {
    graph_id graph;
    result_flags mapped;
  };

  /// The first `first` outputs are mapped along axis 0, and so are others that differ between elements.
  static constexpr batched_outputs batched_graph(const batch_application& a, graph_id of_one,
                                                 const operand_flags& mapped, std::size_t first) {
    using namespace parallax::detail;
    batched_outputs made{a.trace.open_graph(), {}};
    const growing_vector<batched> outputs =
        batch_graph(a.trace, of_one, mapped_inputs(a, of_one, mapped), a.size, a.axis);
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      const bool is_mapped = outputs[k].is_mapped() || k < first;
      add_output(a.trace, is_mapped ? build::mapped_at(outputs[k], 0, a.size) : outputs[k].value);
      made.mapped.push_back(is_mapped);
    }
    a.trace.close_graph();
    return made;
  }

  /// All graphs are batched; results are mapped along axis 0, and so are residuals that differ.
  static constexpr growing_vector<batched> batch(const batch_application& a, parameters p) {
    using namespace parallax::detail;
    const operand_flags mapped = mapped_operands(a);
    const std::size_t results = a.trace.at(p.body).outputs.size();
    p.body = parallax::detail::batched_body(a, p.body, mapped);
    operand_flags given(p.sees_results ? results : 0, 1);
    for (char each : mapped) given.push_back(each);
    for_each(p.tangents, [&](graph_id& g) {
      operand_flags inputs = given;
      for (std::size_t k = 0; k < mapped.size(); ++k)
        if (p.moving[k] != 0) inputs.push_back(mapped[k]);
      g = parallax::detail::batched_body(a, g, inputs);
    });
    operand_flags kept; // the mapped ones among the inputs of the way back
    if (p.sees_results) kept = given;
    for_each(p.forward, [&](graph_id& g) {
      const batched_outputs both = batched_graph(a, g, mapped, results);
      g = both.graph;
      for (std::size_t k = results; k < both.mapped.size(); ++k) kept.push_back(both.mapped[k]);
    });
    for_each(p.backward, [&](graph_id& g) {
      kept.resize(a.trace.at(g).inputs.size(), char{1});
      g = batched_backward(a, g, kept, mapped);
    });
    return at_front(emit_call<custom_call>(a.trace, operands_at_front(a, mapped), p));
  }

  static constexpr linearized_call linearize(const linearize_application& a, const parameters& p) {
    if (!check_moving(a.trace, a.wanted, p)) return {};
    if (!p.backward.empty()) return by_backward(a, p);
    if (!p.tangents.empty()) return by_tangents(a, p);
    auto same = [](std::size_t, tracer x) { return x; };
    parallax::detail::joint_program joint(a.trace, p.body, a.wanted, same, same);
    if (a.trace.failed) return {};
    return by_halves(a, p.body, joint, emit_call<custom_call>(a.trace, a.operands, {joint.forward_half()}));
  }

  static constexpr results_with_tangents jvp(const jvp_application& a, const parameters& p) {
    using namespace parallax::detail;
    const operand_flags moves = a.moving();
    if (!check_moving(a.trace, moves, p)) return {};
    if (!p.has_rules()) {
      const body_with_tangents both(a.trace, p.body, moves);
      if (a.trace.failed) return {};
      return results_with_tangents::of(emit_call<custom_call>(a.trace, a.operands_with_tangents(), {both.body}),
                                       both.moving);
    }
    if (p.tangents.empty()) {
      a.trace.fail(message() << "jvp: a function with custom_vjp has no forward mode; give it custom_jvp, or take grad "
                                "or vjp of it; rules of a custom_call have it with jvp");
      return {};
    }
    growing_vector<tracer> values, inputs;
    if (p.sees_results) values = inputs = emit_call<custom_call>(a.trace, a.operands, p);
    for (const tracer& x : a.operands) inputs.push_back(x);
    for (std::size_t k = 0; k < a.operands.size(); ++k)
      if (p.moving[k] != 0) inputs.push_back(a.tangents[k].owner ? a.tangents[k] : build::zeros_like(a.operands[k]));
    for_each(replay_graph(a.trace, p.tangents[0], inputs), [&](const tracer& y) { values.push_back(y); });
    return results_with_tangents::of(values, floating_outputs(a.trace, p.body));
  }

  // Defined where graphs are prepared.
  static constexpr void prepare(parallax::detail::preparation&, node_id call, const parameters&);

  /// The derivative that a joint program of the body computes. `values` are those of a forward half, and the backward
  /// half becomes a custom call.
  static constexpr linearized_call by_halves(const linearize_application& a, graph_id body,
                                             parallax::detail::joint_program& joint,
                                             const growing_vector<tracer>& values) {
    linearized_call linear{.operands = {a.operands.begin(), a.operands.end()},
                           .differentiated_results = joint.differentiated_results,
                           .differentiated_operands = joint.differentiated_inputs};
    finish(linear, values, joint.backward_half(), a.trace.at(body).outputs.size());
    return linear;
  }

 private:
  /// The way back. The cotangent of an operand that all elements share is summed over the elements.
  static constexpr graph_id batched_backward(const batch_application& a, graph_id of_one, const operand_flags& inputs,
                                             const operand_flags& mapped) {
    using namespace parallax::detail;
    const graph_id made = a.trace.open_graph();
    const growing_vector<batched> outputs =
        batch_graph(a.trace, of_one, mapped_inputs(a, of_one, inputs), a.size, a.axis);
    const parameters p = decode<parameters>(a.parameters);
    std::size_t operand = 0;
    for (const batched& y : outputs) {
      while (p.moving[operand] == 0) ++operand;
      const tracer whole = build::mapped_at(y, 0, a.size);
      add_output(a.trace, mapped[operand++] != 0 ? whole : build::sum(whole, 0));
    }
    a.trace.close_graph();
    return made;
  }

  static constexpr result_flags floating_outputs(const context& trace, graph_id of) {
    result_flags floating;
    for (node_id y : trace.at(of).outputs) floating.push_back(has_derivatives(trace.at(of).type(y)));
    return floating;
  }
  /// Whether the rules give derivatives for all operands that are differentiated; fails if not.
  static constexpr bool check_moving(context& trace, const operand_flags& wanted, const parameters& p) {
    if (!p.has_rules()) return true;
    for (std::size_t k = 0; k < wanted.size(); ++k) {
      if (wanted[k] == 0 || p.moving[k] != 0) continue;
      trace.fail(message() << (p.tangents.empty() ? "custom_vjp" : "custom_jvp")
                           << ": the function closes over a value that is differentiated, of which its rule says "
                              "nothing; make that value an argument");
      return false;
    }
    return true;
  }
  /// Takes the values of a forward half apart: the results, and behind them the operands of the backward half.
  static constexpr void finish(linearized_call& linear, const growing_vector<tracer>& values, graph_id backward,
                               std::size_t results) {
    for (std::size_t k = 0; k < values.size(); ++k)
      (k < results ? linear.results : linear.operands).push_back(values[k]);
    linear.backward = id_of<custom_call>;
    linear.parameters = encode(parameters{backward});
  }

  static constexpr linearized_call by_backward(const linearize_application& a, const parameters& p) {
    const std::size_t results = a.trace.at(p.body).outputs.size();
    linearized_call linear{.differentiated_results = floating_outputs(a.trace, p.body).numbers(),
                           .differentiated_operands = p.moving.numbers()};
    const growing_vector<tracer> operands(a.operands.begin(), a.operands.end());
    growing_vector<tracer> values;
    if (p.sees_results) {
      values = emit_call<custom_call>(a.trace, a.operands, p);
      for (std::size_t k = 0; k < results; ++k) values.push_back(values[k]);
      for (const tracer& x : a.operands) values.push_back(x);
    } else {
      values = parallax::detail::replay_graph(a.trace, p.forward[0], operands);
    }
    finish(linear, values, p.backward[0], results);
    return linear;
  }
  /// The derivative by the rule for tangents, which is transposed.
  static constexpr linearized_call by_tangents(const linearize_application& a, const parameters& p) {
    using namespace parallax::detail;
    const std::size_t results = a.trace.at(p.body).outputs.size();
    growing_vector<tracer> operands;
    if (p.sees_results) operands = emit_call<custom_call>(a.trace, a.operands, p);
    const std::size_t before = operands.size();
    for (const tracer& x : a.operands) operands.push_back(x);
    operand_flags by_tangents(operands.size());
    for (std::size_t k = 0; k < a.operands.size(); ++k) {
      if (p.moving[k] == 0) continue;
      operands.push_back(build::zeros_like(a.operands[k]));
      by_tangents.push_back(1);
    }
    const graph_id moved = p.sees_results ? p.tangents[0] : only_outputs(a.trace, p.tangents[0], results);
    auto same = [](std::size_t, tracer x) { return x; };
    joint_program joint(a.trace, moved, by_tangents, same, same);
    if (a.trace.failed) return {};
    const growing_vector<tracer> values = replay_graph(a.trace, joint.forward_half(), operands);
    linearized_call linear{.operands = operands};
    const growing_vector<int> floating = floating_outputs(a.trace, p.body).numbers(), moving = p.moving.numbers();
    for_each(joint.differentiated_results,
             [&](int k) { linear.differentiated_results.push_back(floating[index_of(k)]); });
    for_each(joint.differentiated_inputs, [&](int k) {
      linear.differentiated_operands.push_back(moving[index_of(k) - before - a.operands.size()]);
    });
    if (!p.sees_results) linear.results = replay_graph(a.trace, p.body, {a.operands.begin(), a.operands.end()});
    for (std::size_t k = 0; k < before; ++k) linear.results.push_back(operands[k]);
    for (std::size_t k = floating.size(); k < values.size(); ++k) linear.operands.push_back(values[k]);
    linear.backward = id_of<custom_call>;
    linear.parameters = encode(parameters{joint.backward_half()});
    return linear;
  }
  /// A graph that returns the outputs behind the first ones.
  static constexpr graph_id only_outputs(context& trace, graph_id of, std::size_t first) {
    using namespace parallax::detail;
    const graph_id made = trace.open_graph();
    const growing_vector<tracer> outputs = replay_graph(trace, of, inputs_like(trace, of));
    for (std::size_t k = first; k < outputs.size(); ++k) add_output(trace, outputs[k]);
    trace.close_graph();
    return made;
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::primitives

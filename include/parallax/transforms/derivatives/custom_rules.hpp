// custom_jvp and custom_vjp: functions whose derivatives their users write.
#pragma once

#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/version.hpp>
#include <parallax/ops/expressions/axes.hpp>
#include <parallax/transforms/calls/custom_call.hpp>
#include <parallax/transforms/derivatives/differentiated_arguments.hpp>
#include <parallax/transforms/passes/check_leaves.hpp>

#include <tuple>
#include <type_traits>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION {
namespace detail {

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

} // namespace detail

/// A function with a rule for tangents.
template <class Function, class Rule> struct with_custom_jvp {
  [[no_unique_address]] Function function;
  [[no_unique_address]] Rule rule;

  template <class... Args> constexpr auto operator()(const Args&... args) const {
    if constexpr (!detail::any_traced<Args...>()) return execute(*this, args...);
    else if constexpr (!detail::is_callable<Function, detail::traced_t<Args>...>())
      return detail::refuse_call<Function, Args...>(detail::trace_of_trees(args...), "custom_jvp");
    else return detail::trace_with_rules(function, [&](auto&... each) { check_rule(each...); }, args...);
  }

 private:
  template <class Result, class... Args>
  constexpr void check_rule(detail::custom_trace& traced, const Result& result, const Args&... args) const {
    using trees = decltype(detail::arguments_of({}, args...));
    if constexpr (detail::is_callable<Rule, trees, trees>()) trace_rule(traced, result, args...);
    else
      detail::refuse_rule<Rule, trees, trees>(detail::trace_of_trees(args...), "custom_jvp: the rule",
                                              "let it take the tuple of arguments, and that of their tangents");
  }
  template <class Result, class... Args>
  constexpr void trace_rule(detail::custom_trace& traced, const Result&, const Args&... args) const {
    using namespace detail;
    context& owner = trace_of_trees(args...);
    const growing_vector<tracer> inputs = traced.open();
    growing_vector<tracer> directions = inputs;
    for (std::size_t k = 0; k < inputs.size(); ++k)
      if (inputs[k].owner)
        directions[k] =
            has_derivatives(inputs[k].type()) ? new_input(owner, inputs[k].value()) : build::zeros_like(inputs[k]);
    const auto made = rule(arguments_of(inputs, args...), arguments_of(directions, args...));
    using made_type = std::remove_cvref_t<decltype(made)>;
    static_assert(is_of_two<made_type>, "parallax: custom_jvp: the rule takes the tuple of arguments and that of their "
                                        "tangents, and returns the pair of the result and its tangent");
    if constexpr (is_of_two<made_type>) {
      constexpr bool fits = same_structure<Result, std::remove_cvref_t<decltype(std::get<0>(made))>>() &&
                            same_structure<Result, std::remove_cvref_t<decltype(std::get<1>(made))>>();
      static_assert(fits, "parallax: custom_jvp: the rule returns another tree than the function");
      if constexpr (fits) {
        growing_vector<tracer> outputs = leaves_to_tracers(owner, std::get<0>(made));
        const growing_vector<tracer> tangents = leaves_to_tracers(owner, std::get<1>(made));
        const growing_vector<abstract_value> expected = values_of_outputs(owner, traced.call.body);
        check_alike(owner, "custom_jvp", "result", outputs, expected);
        check_alike(owner, "custom_jvp", "tangent", tangents, expected);
        for_each(tangents, [&](const tracer& t) {
          if (has_derivatives(t.type())) outputs.push_back(t);
        });
        const graph_id graph = traced.close(outputs);
        traced.call.tangents.push_back(graph);
        traced.take_captures(traced.call.body, traced.call.tangents);
        traced.take_captures(graph, plain_span<const graph_id>(&traced.call.body, 1));
      }
    }
  }
};

/// A function with a rule for its way back.
template <class Function, class Forward, class Backward> struct with_custom_vjp {
  [[no_unique_address]] Function function;
  [[no_unique_address]] Forward forward;
  [[no_unique_address]] Backward backward;

  template <class... Args> constexpr auto operator()(const Args&... args) const {
    if constexpr (!detail::any_traced<Args...>()) return execute(*this, args...);
    else if constexpr (!detail::is_callable<Function, detail::traced_t<Args>...>())
      return detail::refuse_call<Function, Args...>(detail::trace_of_trees(args...), "custom_vjp");
    else return detail::trace_with_rules(function, [&](auto&... each) { check_forward(each...); }, args...);
  }

 private:
  template <class Result, class... Args>
  constexpr void check_forward(detail::custom_trace& traced, const Result& result, const Args&... args) const {
    if constexpr (detail::is_callable<Forward, detail::traced_t<Args>...>()) trace_rules(traced, result, args...);
    else
      detail::refuse_rule<Forward, detail::traced_t<Args>...>(
          detail::trace_of_trees(args...), "custom_vjp: the forward rule", "let it take what the function takes");
  }
  template <class Result, class... Args>
  constexpr void trace_rules(detail::custom_trace& traced, const Result& result, const Args&... args) const {
    using namespace detail;
    context& owner = trace_of_trees(args...);
    const growing_vector<tracer> inputs = traced.open();
    const auto made =
        std::apply([this](const auto&... each) { return forward(each...); }, arguments_of(inputs, args...));
    using made_type = std::remove_cvref_t<decltype(made)>;
    static_assert(is_of_two<made_type>,
                  "parallax: custom_vjp: the forward rule returns the pair of the result and of what "
                  "the backward rule is to be given");
    if constexpr (is_of_two<made_type>) {
      constexpr bool fits = same_structure<Result, std::remove_cvref_t<decltype(std::get<0>(made))>>();
      static_assert(fits, "parallax: custom_vjp: the forward rule returns another tree than the function");
      if constexpr (fits) {
        growing_vector<tracer> outputs = leaves_to_tracers(owner, std::get<0>(made));
        const growing_vector<abstract_value> expected = values_of_outputs(owner, traced.call.body);
        check_alike(owner, "custom_vjp", "result", outputs, expected);
        const growing_vector<tracer> residuals = leaves_to_tracers(owner, std::get<1>(made));
        for_each(residuals, [&](const tracer& r) {
          if (r.owner) outputs.push_back(r);
        });
        const growing_vector<abstract_value> kept =
            vector_of(residuals, [](const tracer& r) { return r.owner ? r.value() : abstract_value{}; });
        const graph_id graph = traced.close(outputs);
        traced.call.forward.push_back(graph);
        traced.take_captures(traced.call.body, traced.call.forward);
        traced.take_captures(graph, plain_span<const graph_id>(&traced.call.body, 1));
        using kept_tree = decltype(tree_map([](const auto&) { return tracer{}; }, std::get<1>(made)));
        if constexpr (is_callable<Backward, kept_tree, Result>())
          trace_backward(traced, result, std::get<1>(made), residuals, kept, args...);
        else
          refuse_rule<Backward, kept_tree, Result>(
              owner, "custom_vjp: the backward rule",
              "let it take what the forward rule kept, and the cotangents of the result");
      }
    }
  }
  template <class Result, class Residuals, class... Args>
  constexpr void trace_backward(detail::custom_trace& traced, const Result& result, const Residuals& like,
                                const growing_vector<tracer>& residuals, const growing_vector<abstract_value>& kept,
                                const Args&... args) const {
    using namespace detail;
    context& owner = trace_of_trees(args...);
    owner.open_graph();
    growing_vector<tracer> given = residuals;
    for (std::size_t k = 0; k < given.size(); ++k)
      if (given[k].owner) given[k] = new_input(owner, kept[k]);
    const std::size_t kept_count = owner.current().inputs.size();
    const growing_vector<abstract_value> results = values_of_outputs(owner, traced.call.body);
    const growing_vector<tracer> cotangents = vector_of(results, [&](const abstract_value& y) {
      return has_derivatives(y.type) ? new_input(owner, y) : build::zeros(owner, y);
    });
    std::size_t next = 0;
    const auto residual_tree = tree_map([&](const auto&) { return given[next++]; }, like);
    const auto made = backward(residual_tree, with_leaves(result, cotangents));
    using made_type = std::remove_cvref_t<decltype(made)>;
    constexpr bool fits = one_tree_each<std::tuple<Args...>, made_type>;
    static_assert(fits,
                  "parallax: custom_vjp: the backward rule takes what the forward rule kept and the cotangents of the "
                  "result, and returns a tuple: a tree of cotangents for each argument, or none");
    if constexpr (fits) {
      growing_vector<tracer> outputs;
      growing_vector<abstract_value> expected;
      std::size_t leaf = 0;
      auto take_each = [&]<class Given, class Arg>(const Given& cotangent, const Arg&) {
        growing_vector<tracer> found(index_of(leaf_count<Arg>));
        if constexpr (!std::is_same_v<Given, none_t>) found = leaves_to_tracers(owner, cotangent);
        for (std::size_t k = 0; k < found.size(); ++k) {
          const tracer& argument = traced.leaves[leaf++];
          if (!argument.owner || !has_derivatives(argument.type())) continue;
          expected.push_back(argument.value());
          outputs.push_back(found[k].owner ? found[k] : build::zeros(owner, argument.value()));
        }
      };
      [&]<std::size_t... I>(std::index_sequence<I...>) {
        (take_each(std::get<I>(made), args), ...);
      }(std::index_sequence_for<Args...>{});
      check_alike(owner, "custom_vjp", "cotangent", outputs, expected);
      const graph_id graph = traced.close(outputs);
      if (!owner.failed) traced.keep_captures(traced.call.forward[0], graph, kept_count);
      traced.call.backward.push_back(graph);
    }
  }
};

template <class Function, class Rule>
inline constexpr bool detail::is_transformed<with_custom_jvp<Function, Rule>> = true;
template <class Function, class Forward, class Backward>
inline constexpr bool detail::is_transformed<with_custom_vjp<Function, Forward, Backward>> = true;

/// `function`, whose derivative along tangents is `rule(arguments, tangents)`: it takes two tuples, and returns the
/// pair of the result and its tangent. Reverse mode transposes the rule, so the rule has to be linear in the tangents.
/// JAX: custom_jvp
template <class Function, class Rule> constexpr auto custom_jvp(Function function, Rule rule) {
  return with_custom_jvp<Function, Rule>{function, rule};
}

/// `function`, with a way back of its user's own: `forward(arguments...)` returns the pair of the result and of a tree
/// that is kept; `backward(kept, cotangents)` returns a tuple of the arguments' cotangents, `none` for zeros. It has no
/// forward mode. JAX: custom_vjp
template <class Function, class Forward, class Backward>
constexpr auto custom_vjp(Function function, Forward forward, Backward backward) {
  return with_custom_vjp<Function, Forward, Backward>{function, forward, backward};
}

} // namespace parallax::PARALLAX_INLINE_VERSION

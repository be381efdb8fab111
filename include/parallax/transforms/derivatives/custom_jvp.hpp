// custom_jvp: a function whose user writes its derivative along tangents.
#pragma once

#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/version.hpp>
#include <parallax/transforms/derivatives/custom_trace.hpp>
#include <parallax/transforms/derivatives/differentiated_arguments.hpp>
#include <parallax/transforms/passes/callable.hpp>
#include <parallax/transforms/passes/check_leaves.hpp>

#include <cstddef>
#include <tuple>
#include <type_traits>

namespace parallax::PARALLAX_INLINE_VERSION {

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
    detail::context& owner = trace_of_trees(args...);
    const detail::growing_vector<tracer> inputs = traced.open();
    detail::growing_vector<tracer> directions = inputs;
    for (std::size_t k = 0; k < inputs.size(); ++k)
      if (inputs[k].owner)
        directions[k] = detail::has_derivatives(inputs[k].type()) ? new_input(owner, inputs[k].value())
                                                                  : build::zeros_like(inputs[k]);
    const auto made = rule(arguments_of(inputs, args...), arguments_of(directions, args...));
    using made_type = std::remove_cvref_t<decltype(made)>;
    static_assert(is_of_two<made_type>, "parallax: custom_jvp: the rule takes the tuple of arguments and that of their "
                                        "tangents, and returns the pair of the result and its tangent");
    if constexpr (is_of_two<made_type>) {
      constexpr bool fits = same_structure<Result, std::remove_cvref_t<decltype(std::get<0>(made))>>() &&
                            same_structure<Result, std::remove_cvref_t<decltype(std::get<1>(made))>>();
      static_assert(fits, "parallax: custom_jvp: the rule returns another tree than the function");
      if constexpr (fits) {
        detail::growing_vector<tracer> outputs = leaves_to_tracers(owner, std::get<0>(made));
        const detail::growing_vector<tracer> tangents = leaves_to_tracers(owner, std::get<1>(made));
        const detail::growing_vector<detail::abstract_value> expected = values_of_outputs(owner, traced.call.body);
        check_alike(owner, "custom_jvp", "result", outputs, expected);
        check_alike(owner, "custom_jvp", "tangent", tangents, expected);
        for_each(tangents, [&](const tracer& t) {
          if (detail::has_derivatives(t.type())) outputs.push_back(t);
        });
        const detail::graph_id graph = traced.close(outputs);
        traced.call.tangents.push_back(graph);
        traced.take_captures(traced.call.body, traced.call.tangents);
        traced.take_captures(graph, detail::plain_span<const detail::graph_id>(&traced.call.body, 1));
      }
    }
  }
};

template <class Function, class Rule>
inline constexpr bool detail::is_transformed<with_custom_jvp<Function, Rule>> = true;

/// `function`, whose derivative along tangents is `rule(arguments, tangents)`: it takes two tuples, and returns the
/// pair of the result and its tangent. Reverse mode transposes the rule, so the rule has to be linear in the tangents.
/// Errors: a rule that does not return the result and its tangents, as trees like the function's result. JAX:
/// custom_jvp
template <class Function, class Rule> constexpr auto custom_jvp(Function function, Rule rule) {
  return with_custom_jvp<Function, Rule>{function, rule};
}

} // namespace parallax::PARALLAX_INLINE_VERSION

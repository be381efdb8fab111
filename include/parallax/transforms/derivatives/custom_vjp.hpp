// custom_vjp: a function whose user writes its way back.
#pragma once

#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/version.hpp>
#include <parallax/ops/expressions/axes.hpp>
#include <parallax/transforms/derivatives/custom_trace.hpp>
#include <parallax/transforms/derivatives/differentiated_arguments.hpp>
#include <parallax/transforms/passes/callable.hpp>
#include <parallax/transforms/passes/check_leaves.hpp>

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION {

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
    detail::context& owner = trace_of_trees(args...);
    const detail::growing_vector<tracer> inputs = traced.open();
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
        detail::growing_vector<tracer> outputs = leaves_to_tracers(owner, std::get<0>(made));
        const detail::growing_vector<detail::abstract_value> expected = values_of_outputs(owner, traced.call.body);
        check_alike(owner, "custom_vjp", "result", outputs, expected);
        const detail::growing_vector<tracer> residuals = leaves_to_tracers(owner, std::get<1>(made));
        for_each(residuals, [&](const tracer& r) {
          if (r.owner) outputs.push_back(r);
        });
        const detail::growing_vector<detail::abstract_value> kept =
            vector_of(residuals, [](const tracer& r) { return r.owner ? r.value() : detail::abstract_value{}; });
        const detail::graph_id graph = traced.close(outputs);
        traced.call.forward.push_back(graph);
        traced.take_captures(traced.call.body, traced.call.forward);
        traced.take_captures(graph, detail::plain_span<const detail::graph_id>(&traced.call.body, 1));
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
                                const detail::growing_vector<tracer>& residuals,
                                const detail::growing_vector<detail::abstract_value>& kept, const Args&... args) const {
    using namespace detail;
    detail::context& owner = trace_of_trees(args...);
    owner.open_graph();
    detail::growing_vector<tracer> given = residuals;
    for (std::size_t k = 0; k < given.size(); ++k)
      if (given[k].owner) given[k] = new_input(owner, kept[k]);
    const std::size_t kept_count = owner.current().inputs.size();
    const detail::growing_vector<detail::abstract_value> results = values_of_outputs(owner, traced.call.body);
    const detail::growing_vector<tracer> cotangents = vector_of(results, [&](const detail::abstract_value& y) {
      return detail::has_derivatives(y.type) ? new_input(owner, y) : build::zeros(owner, y);
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
      detail::growing_vector<tracer> outputs;
      detail::growing_vector<detail::abstract_value> expected;
      std::size_t leaf = 0;
      auto take_each = [&]<class Given, class Arg>(const Given& cotangent, const Arg&) {
        detail::growing_vector<tracer> found(detail::index_of(detail::leaf_count<Arg>));
        if constexpr (!std::is_same_v<Given, none_t>) found = leaves_to_tracers(owner, cotangent);
        for (std::size_t k = 0; k < found.size(); ++k) {
          const tracer& argument = traced.leaves[leaf++];
          if (!argument.owner || !detail::has_derivatives(argument.type())) continue;
          expected.push_back(argument.value());
          outputs.push_back(found[k].owner ? found[k] : build::zeros(owner, argument.value()));
        }
      };
      [&]<std::size_t... I>(std::index_sequence<I...>) {
        (take_each(std::get<I>(made), args), ...);
      }(std::index_sequence_for<Args...>{});
      check_alike(owner, "custom_vjp", "cotangent", outputs, expected);
      const detail::graph_id graph = traced.close(outputs);
      if (!owner.failed) traced.keep_captures(traced.call.forward[0], graph, kept_count);
      traced.call.backward.push_back(graph);
    }
  }
};

template <class Function, class Forward, class Backward>
inline constexpr bool detail::is_transformed<with_custom_vjp<Function, Forward, Backward>> = true;

/// `function`, with a way back of its user's own: `forward(arguments...)` returns the pair of the result and of a tree
/// that is kept; `backward(kept, cotangents)` returns a tuple of the arguments' cotangents, `none` for zeros. It has no
/// forward mode. Errors: a forward rule that does not return the pair of the result and of what it keeps; a backward
/// rule that does not return trees like the arguments; forward mode. JAX: custom_vjp
template <class Function, class Forward, class Backward>
constexpr auto custom_vjp(Function function, Forward forward, Backward backward) {
  return with_custom_vjp<Function, Forward, Backward>{function, forward, backward};
}

} // namespace parallax::PARALLAX_INLINE_VERSION

// A function traced for its derivative at a point, and the forward half of the derivative, which is computed there.
#pragma once

#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/version.hpp>
#include <parallax/ops/expressions/axes.hpp>
#include <parallax/transforms/derivatives/differentiated_arguments.hpp>
#include <parallax/transforms/passes/joint_program.hpp>

#include <tuple>
#include <type_traits>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// A function that has been traced with respect to all floating leaves of its arguments.
template <class Tree> struct linear_point {
  differentiated_inputs arguments;
  graph_id body;
  Tree result;
  growing_vector<tracer> results;
};
template <class Function, class... Args>
constexpr auto trace_point(context& owner, std::string_view name, const Function& function, const Args&... args) {
  differentiated_inputs arguments(owner, name, leaves_to_tracers(owner, args...));
  const graph_id body = owner.open_graph();
  arguments.take_floating();
  auto result =
      call_on(owner, function, arguments.inputs, std::index_sequence_for<Args...>{}, std::type_identity<Args>{}...);
  const growing_vector<tracer> results = tracers_of(result);
  set_outputs(owner, results);
  owner.close_graph();
  return linear_point<decltype(result)>{arguments, body, result, results};
}
/// As `trace_point`, for a tuple of arguments.
template <class Function, class Args>
constexpr auto trace_point_at(context& owner, std::string_view name, const Function& function, const Args& args) {
  return std::apply([&](const auto&... each) { return trace_point(owner, name, function, each...); }, args);
}

/// The leaves of a tree of cotangents like the results; without an owner for results of types without derivatives.
template <class Tree, class Cotangents>
constexpr growing_vector<tracer> result_cotangents(context& owner, std::string_view name, const Tree& results,
                                                   const Cotangents& given) {
  growing_vector<tracer> leaves = leaves_to_tracers(owner, given);
  std::size_t next = 0;
  tree_for_each(
      [&](const tracer& y) {
        tracer& leaf = leaves[next];
        leaf = has_derivatives(y.type())
                   ? fitting_direction(owner, name, "result", static_cast<int>(next), "cotangent", y.value(), leaf)
                   : tracer{};
        ++next;
      },
      results);
  return leaves;
}
/// By operand: the tangents of a function's arguments, which are passed one after another.
template <class... Args, class... Tangents>
constexpr growing_vector<tracer> argument_tangents(context& owner, std::string_view name,
                                                   const std::tuple<Args...>& args, const Tangents&... tangents) {
  growing_vector<tracer> directions;
  int argument = 0;
  auto take = [&]<class Tangent>(const auto& primal, const Tangent& tangent) {
    const growing_vector<tracer> leaves = leaves_to_tracers(owner, primal);
    growing_vector<tracer> given(leaves.size());
    if constexpr (!std::is_same_v<Tangent, none_t>) given = leaves_to_tracers(owner, tangent);
    for (std::size_t k = 0; k < leaves.size(); ++k)
      if (leaves[k].owner)
        directions.push_back(
            std::is_same_v<Tangent, none_t>
                ? tracer{}
                : fitting_direction(owner, name, "argument", argument, "tangent", leaves[k].value(), given[k]));
    ++argument;
  };
  std::apply([&](const auto&... primal) { (take(primal, tangents), ...); }, args);
  return directions;
}

/// Trees like the arguments, as a tuple, with other leaves.
template <class... Args>
constexpr auto arguments_with_leaves(const growing_vector<tracer>& leaves, const std::tuple<Args...>& args) {
  std::size_t next = 0;
  return tree_map([&](const auto&) { return leaves[next++]; }, args);
}

/// The program of a function's result and its residuals, `Residuals` of them.
template <class Function, int Residuals> struct forward_half {
  [[no_unique_address]] Function function;

  template <class... Args> constexpr auto operator()(const Args&... args) const {
    if constexpr (!is_callable<Function, traced_t<Args>...>()) {
      return refuse_call<Function, Args...>(trace_of_trees(args...), "vjp");
    } else {
      context& owner = trace_of_trees(args...);
      const auto point = trace_point(owner, "vjp", function, args...); // clang++ lets no lambda read its parts by names
      growing_vector<tracer> values = point.results;
      if (!owner.failed) {
        auto same = [](std::size_t, tracer x) { return x; };
        joint_program joint(owner, point.body, point.arguments.wanted, same, same);
        if (!owner.failed) values = replay_graph(owner, joint.forward_half(), point.arguments.operands);
      }
      values.resize(point.results.size() + index_of(Residuals), values[0]);
      return [&]<std::size_t... I>(std::index_sequence<I...>) {
        using kept = std::tuple<std::conditional_t<(I < std::size_t{Residuals}), tracer, void>...>;
        return std::pair{with_leaves(point.result, values), kept{values[point.results.size() + I]...}};
      }(std::make_index_sequence<std::size_t{Residuals}>{});
    }
  }

  /// The number of residuals; -1 if the function cannot be differentiated.
  template <class... Args> static constexpr int count(const Args&... args) {
    context& owner = trace_of_trees(args...);
    const auto point = trace_point(owner, "vjp", Function{}, args...);
    if (owner.failed) return -1;
    auto same = [](std::size_t, tracer x) { return x; };
    const joint_program joint(owner, point.body, point.arguments.wanted, same, same);
    return owner.failed ? -1 : joint.residual_count();
  }
};

// Defined where programs are called.
template <template <class, class, class> class Half, class Function, class... Args>
auto execute_half(const Function& function, const Args&... args);

} // namespace parallax::PARALLAX_INLINE_VERSION::detail

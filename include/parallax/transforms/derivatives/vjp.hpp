// vjp: a function's value and its pullback, which may be called often.
#pragma once

#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/version.hpp>
#include <parallax/transforms/derivatives/linear_point.hpp>

#include <tuple>
#include <type_traits>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION {

/// The pullback that `vjp` returns inside another traced function.
template <class Tree, class Args> class traced_pullback {
 public:
  constexpr traced_pullback(detail::reverse_pass forward, detail::differentiated_inputs given, const Tree& results,
                            const Args& primals)
      : pass(std::move(forward)), arguments(std::move(given)), result(results), args(primals) {}

  template <class Cotangents> constexpr auto operator()(const Cotangents& cotangents) const {
    constexpr bool fits = detail::same_structure<Tree, Cotangents>();
    static_assert(fits, "parallax: vjp: give the pullback a tree of cotangents like the function's result");
    detail::growing_vector<tracer> leaves = arguments.leaves;
    if constexpr (fits) {
      if (!arguments.owner.failed) {
        detail::reverse_pass again = pass;
        leaves =
            arguments.gradients(again.backward(detail::result_cotangents(arguments.owner, "vjp", result, cotangents)));
      }
    }
    return detail::arguments_with_leaves(leaves, args);
  }

 private:
  detail::reverse_pass pass;
  detail::differentiated_inputs arguments;
  Tree result;
  Args args;
};

namespace detail {

/// The program of a pullback: from arguments, residuals and the results' cotangents to the arguments' cotangents.
template <class Function> struct backward_half {
  template <class Args, class Residuals, class Cotangents>
  constexpr auto operator()(const Args& args, const Residuals& residuals, const Cotangents& cotangents) const {
    context& owner = trace_of_trees(args, residuals, cotangents);
    const auto point = trace_point_at(owner, "vjp", Function{}, args);
    const differentiated_inputs& arguments = point.arguments;
    const auto& result = point.result;
    constexpr bool fits = same_structure<std::remove_cvref_t<decltype(result)>, Cotangents>();
    static_assert(fits, "parallax: vjp: give the pullback a tree of cotangents like the function's result");
    growing_vector<tracer> leaves = arguments.leaves;
    if constexpr (fits) {
      const growing_vector<tracer> given = result_cotangents(owner, "vjp", result, cotangents);
      auto same = [](std::size_t, tracer x) { return x; };
      if (!owner.failed) {
        joint_program joint(owner, point.body, arguments.wanted, same, same);
        growing_vector<tracer> inputs = arguments.operands;
        for_each(leaves_to_tracers(owner, residuals), [&](const tracer& x) { inputs.push_back(x); });
        for_each(joint.differentiated_results, [&](int k) { inputs.push_back(given[index_of(k)]); });
        const growing_vector<tracer> gradients = replay_graph(owner, joint.backward_half(), inputs);
        growing_vector<tracer> by_operand(arguments.operands.size());
        for (std::size_t i = 0; i < gradients.size(); ++i)
          by_operand[index_of(joint.differentiated_inputs[i])] = gradients[i];
        leaves = arguments.gradients(by_operand);
      }
    }
    return arguments_with_leaves(leaves, args);
  }
};

} // namespace detail

/// A function's pullback at a point: `vjp` returns it.
template <class Function, class Args, class Residuals> struct pullback {
  Args args;
  Residuals residuals;

  /// The tuple of the arguments' cotangents, given a tree of the results' cotangents.
  template <class Cotangents> auto operator()(const Cotangents& cotangents) const {
    return execute(detail::backward_half<Function>{}, args, residuals, cotangents);
  }
};

/// The pair of `function(args...)` and its pullback: from the cotangents of the result to the tuple of the arguments'
/// cotangents. The pullback may be called often: the values that it needs of the function are kept. Cotangents of
/// integers are zeros. Errors: cotangents that are no tree like the result; an operation without a derivative. JAX: vjp
template <class Function, class... Args> constexpr auto vjp(const Function& function, const Args&... args) {
  if constexpr (!detail::any_traced<Args...>()) {
    return detail::execute_half<pullback>(function, args...);
  } else if constexpr (!detail::is_callable<Function, detail::traced_t<Args>...>()) {
    return detail::refuse_call<Function, Args...>(detail::trace_of_trees(args...), "vjp");
  } else {
    detail::context& owner = detail::trace_of_trees(args...);
    const auto [arguments, body, result, results] = detail::trace_point(owner, "vjp", function, args...);
    const detail::reverse_pass pass(owner, body, arguments.operands, arguments.wanted);
    const auto values = detail::with_leaves(result, owner.failed ? results : pass.outputs);
    using pulled = traced_pullback<std::remove_cvref_t<decltype(result)>, std::tuple<Args...>>;
    return std::pair{values, pulled(pass, arguments, values, {args...})};
  }
}

} // namespace parallax::PARALLAX_INLINE_VERSION

// vjp and linearize of arrays: the forward half of a program runs, and the residuals that the other half reads are
// kept.
#pragma once

#include <parallax/backends/execute.hpp>
#include <parallax/core/version.hpp>
#include <parallax/transforms/derivatives/linear_point.hpp>

#include <tuple>
#include <type_traits>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// The number of residuals: arrays that a function's derivative reads beside its arguments; -1 if it has no derivative.
template <class Function, class... Trees> constexpr int residual_count() {
  context trace;
  trace.append = &append_operation;
  trace.rules = rule_table<typename when_traced<Function>::catalogue>::entries;
  int count = -1;
  auto counting = [&](const auto&... args) {
    count = forward_half<Function, 0>::count(args...);
    return build::literal(trace, element_type::float32, 0);
  };
  std::ignore = call_on(trace, counting, program_inputs<Trees...>(trace), std::index_sequence_for<Trees...>{},
                        std::type_identity<Trees>{}...);
  return count;
}

/// The pair of a function's result and its derivative, a `Half`, which holds the arguments and the residuals.
template <template <class, class, class> class Half, class Function, class... Args>
auto execute_half(const Function& function, const Args&... args) {
  if constexpr (!is_stateless<Function> || !(is_argument<Args> && ...)) {
    return execute(forward_half<Function, 0>{function}, args...);
  } else if constexpr (!is_callable<Function, traced_t<argument_t<Args>>...>()) {
    return execute(forward_half<Function, 0>{function}, args...);
  } else {
    constexpr int residuals = residual_count<Function, argument_t<Args>...>();
    if constexpr (residuals < 0) {
      // the body of `execute`, one call nearer to the user's line
      using kept_half = forward_half<Function, 0>;
      if constexpr (prints_texts<program<kept_half, argument_t<Args>...>>()) {
        print_error<error_of<program<kept_half, argument_t<Args>...>>>();
        return show_line<kept_half, argument_t<Args>...>();
      } else {
        return unknown_results<kept_half, argument_t<Args>...>();
      }
    } else {
      auto made = execute(forward_half<Function, residuals>{function}, args...);
      using kept = std::tuple<std::remove_cvref_t<decltype(evaluated(args))>...>;
      using kept_half = Half<Function, kept, std::remove_cvref_t<decltype(made.second)>>;
      return std::pair{std::move(made.first), kept_half{kept{evaluated(args)...}, std::move(made.second)}};
    }
  }
}

} // namespace parallax::PARALLAX_INLINE_VERSION::detail

// jit: a function as one compiled program.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/transforms/passes/callable.hpp>
#include <parallax/transforms/passes/donate.hpp>

namespace parallax::PARALLAX_INLINE_VERSION {

/// What `jit` returns: a function whose calls with arrays run one program. `InTrace`: it is called in a trace, which
/// counts alone, or no arguments, do not say.
template <class Function, bool InTrace = false> struct jitted {
  [[no_unique_address]] Function function;

  template <class... Args> constexpr auto operator()(const Args&... args) const {
    if constexpr (InTrace) return function(args...);
    else if constexpr ((detail::is_extent_list<Args> && ...)) return execute(jitted<Function, true>{function}, args...);
    else if constexpr (!detail::any_traced<Args...>()) return execute(*this, args...);
    else if constexpr (!detail::is_callable<Function, const Args...>())
      return detail::refuse_call<Function, Args...>(detail::trace_of_trees(args...), "jit");
    else return function(args...);
  }
};

template <class Function, bool InTrace> inline constexpr bool detail::is_transformed<jitted<Function, InTrace>> = true;

/// `function` as one program, compiled with the code that calls it. `donate<0>` has calls use up argument 0. JAX: jit
template <class Function, auto... Donated> constexpr auto jit(Function function, donate_t<Donated...> donated = {}) {
  return detail::with_donated(jitted<Function>{function}, donated);
}

} // namespace parallax::PARALLAX_INLINE_VERSION

// jit: a function as one compiled program.
#pragma once

#include <parallax/transforms/call.hpp>

namespace parallax {

template <class Function> struct jitted {
  [[no_unique_address]] Function function;

  template <class... Args> constexpr auto operator()(const Args&... args) const {
    if constexpr (detail::any_traced<Args...>()) return function(args...);
    else return execute(*this, args...);
  }
};

/// `function` as one program, compiled with the code that calls it. JAX: jit
template <class Function> constexpr auto jit(Function function) { return jitted<Function>{function}; }

} // namespace parallax

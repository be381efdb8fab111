// partial: a function with its leading arguments bound.
#pragma once

#include <parallax/core/version.hpp>

#include <tuple>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION {

/// What `partial` returns: a function and its first arguments.
template <class Function, class... Values> struct partially_applied {
  [[no_unique_address]] Function function;
  std::tuple<Values...> values;

  template <class... Args> constexpr auto operator()(const Args&... args) const {
    return std::apply([&](const Values&... bound) { return function(bound..., args...); }, values);
  }
};

/// `partial(f, value...)(args...)` is `f(value..., args...)`. The values are arguments of the program, not part of it,
/// so transform first and bind afterwards: `partial(jit(f), parameters)`. JAX: functools.partial
template <class Function, class... Values> constexpr auto partial(Function function, Values... values) {
  return partially_applied<Function, Values...>{function, {std::move(values)...}};
}

} // namespace parallax::PARALLAX_INLINE_VERSION

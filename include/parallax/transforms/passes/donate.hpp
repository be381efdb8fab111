// Arguments whose memory a call may take.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>
#include <parallax/transforms/passes/callable.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION {

template <auto... Arguments> struct donate_t {
  static constexpr bool has(std::size_t argument) { return ((detail::index_of(Arguments) == argument) || ...); }
  static constexpr std::int64_t highest = [] {
    std::int64_t found = -1;
    ((found = Arguments > found ? Arguments : found), ...);
    return found;
  }();
};

/// For `jit`, `pmap` and `shard_map`: these arguments are used up. A call moves from them, and its results take their
/// memory if they can: a result with the same number and size of elements that is computed element by element from an
/// argument, or after the argument was last read. `state = step(state, batch)` then holds the state once. If another
/// array shares memory with such an argument, that array keeps the memory, and the call takes new memory. Reading a
/// donated array throws `error`; but numbers, and arrays that hold their few elements in place, are copied. Inside
/// another function donation has no effect. JAX: donate_argnums
template <auto... Arguments> inline constexpr donate_t<Arguments...> donate{};

/// A function whose calls use up some of their arguments.
template <class Function, class Donated> struct donating {
  [[no_unique_address]] Function function;

  template <class... Args> constexpr auto operator()(Args&&... args) const {
    if constexpr (!detail::any_traced<std::remove_cvref_t<Args>...>())
      return execute_donating(function, Donated{}, std::forward<Args>(args)...);
    else return function(args...);
  }
};

template <class Function, class Donated>
inline constexpr bool detail::is_transformed<donating<Function, Donated>> = true;

namespace detail {

/// A function that uses up the arguments of a `donate` option, if there are any.
template <class Function, auto... Arguments> constexpr auto with_donated(Function function, donate_t<Arguments...>) {
  static_assert((std::is_integral_v<decltype(Arguments)> && ...) && ((Arguments >= 0) && ...),
                "parallax: donate<...> has the numbers of arguments, from 0 on");
  if constexpr (sizeof...(Arguments) == 0) return function;
  else return donating<Function, donate_t<Arguments...>>{function};
}

} // namespace detail
} // namespace parallax::PARALLAX_INLINE_VERSION

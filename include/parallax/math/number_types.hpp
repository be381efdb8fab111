// The kinds of element types, the types in which their arithmetic is done, and their least and greatest numbers.
#pragma once

#include <parallax/core/config.hpp>
#include <parallax/core/types/element_type.hpp>
#include <parallax/core/version.hpp>

#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace parallax::PARALLAX_INLINE_VERSION::math {

template <class T>
concept floating_element =
    element<T> && (std::floating_point<T> || std::same_as<T, float16> || std::same_as<T, bfloat16>);
/// The floating types of 16 bits: functions of them are computed in float and rounded.
template <class T>
concept floating16_element = floating_element<T> && sizeof(T) == 2;
template <class T>
concept integer_element = element<T> && std::integral<T> && !std::same_as<T, bool>;
template <class T>
concept number_element = floating_element<T> || integer_element<T>;

namespace detail {
template <class T> struct wrapping {
  using type = T;
};
template <integer_element T> struct wrapping<T> {
  using type = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
};
// Variables, because device code may not call the functions of std::numeric_limits.
template <class T> inline constexpr T lowest = std::numeric_limits<T>::lowest();
template <class T> inline constexpr T largest = std::numeric_limits<T>::max();
template <class T> inline constexpr T infinity = std::numeric_limits<T>::infinity();

/// The type in which arithmetic on `T` neither overflows nor is promoted to a signed type.
template <class T> using wrapping_t = typename wrapping<T>::type;

/// Whether the type has numbers below 0.
template <class T> inline constexpr bool has_sign = floating_element<T> || std::is_signed_v<T>;

/// x in a type that the C library has functions for.
template <floating_element T> PARALLAX_HD constexpr auto widen(T x) {
  if constexpr (floating16_element<T>) return static_cast<float>(x);
  else return x;
}

/// The result of a C library function as an element.
template <floating_element T> PARALLAX_HD constexpr T narrow(decltype(widen(T())) x) { return static_cast<T>(x); }

/// x in the type in which arithmetic wraps around.
template <class T> PARALLAX_HD constexpr wrapping_t<T> wrap(T x) { return static_cast<wrapping_t<T>>(x); }

template <class T> PARALLAX_HD constexpr bool is_nan(T x) {
  if constexpr (floating_element<T>) return x != x;
  else return false;
}
} // namespace detail

/// The least value: minus infinity, or the lowest number of a type without it.
template <element T> PARALLAX_HD constexpr T least() {
  if constexpr (floating16_element<T>) return static_cast<T>(-detail::infinity<float>);
  else if constexpr (floating_element<T>) return -detail::infinity<T>;
  else return detail::lowest<T>;
}
/// The greatest value: infinity, or the largest number of a type without it.
template <element T> PARALLAX_HD constexpr T greatest() {
  if constexpr (floating16_element<T>) return static_cast<T>(detail::infinity<float>);
  else if constexpr (floating_element<T>) return detail::infinity<T>;
  else return detail::largest<T>;
}

} // namespace parallax::PARALLAX_INLINE_VERSION::math

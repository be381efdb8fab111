// The operations of a kernel on one element. Registers of lanes have operations of the same names.
#pragma once

#include <parallax/core/config.hpp>
#include <parallax/core/types/element_type.hpp>
#include <parallax/core/version.hpp>
#include <parallax/math/number_types.hpp>

#include <cmath>
#include <concepts>
#include <type_traits>

/// The operations of fused kernels. A kernel's body is a template that calls them qualified, `math::tanh(x)`, and is
/// instantiated with an element type or with a register of lanes, `host::pack<T>`. Integers wrap; nothing is undefined.
namespace parallax::PARALLAX_INLINE_VERSION::math {

/// Applies a function of single numbers, such as one of the C library's, to elements; for registers there is an
/// overload that does so lane by lane. 16-bit numbers are computed in float and rounded.
template <class Function, floating_element T, std::same_as<T>... More>
PARALLAX_HD inline T each_lane(Function function, T x, More... more) {
  return detail::narrow<T>(function(detail::widen(x), detail::widen(more)...));
}

// ---- arithmetic -----------------------------------------------------------------------------------------------------

/// x + y; for booleans, or.
template <element T> PARALLAX_HD constexpr T add(T x, T y) {
  if constexpr (std::same_as<T, bool>) return x || y;
  else return static_cast<T>(detail::wrap(x) + detail::wrap(y));
}

/// x - y.
template <number_element T> PARALLAX_HD constexpr T sub(T x, T y) {
  return static_cast<T>(detail::wrap(x) - detail::wrap(y));
}

/// x * y; for booleans, and.
template <element T> PARALLAX_HD constexpr T mul(T x, T y) {
  if constexpr (std::same_as<T, bool>) return x && y;
  else return static_cast<T>(detail::wrap(x) * detail::wrap(y));
}

/// -x.
template <number_element T> PARALLAX_HD constexpr T neg(T x) {
  if constexpr (floating_element<T>) return -x;
  else return sub(T{0}, x);
}

/// x / y, integers rounded towards zero. An integer divided by zero is the number with all bits set.
template <number_element T> PARALLAX_HD constexpr T div(T x, T y) {
  if constexpr (integer_element<T>) {
    if (y == 0) return static_cast<T>(-1);
    if (std::signed_integral<T> && y == static_cast<T>(-1)) return neg(x);
  }
  return static_cast<T>(x / y);
}

/// The remainder of the truncating division x / y, with the sign of x. For integers, y = 0 gives x.
template <number_element T> PARALLAX_HD inline T rem(T x, T y) {
  if constexpr (floating_element<T>) return each_lane([](auto a, auto b) { return std::fmod(a, b); }, x, y);
  else return sub(x, mul(div(x, y), y));
}

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
namespace detail {
/// Whether an extreme is one instruction that gives NaN if an operand is NaN. For float16 that instruction's operands
/// take memory.
template <class T> inline constexpr bool has_extreme_instruction = std::same_as<T, float> || std::same_as<T, bfloat16>;
template <class T> __device__ inline T device_max(T x, T y) {
  if constexpr (std::same_as<T, float>) {
    float result;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(x), "f"(y));
    return result;
  } else {
    unsigned short result;
    asm("max.NaN.bf16 %0, %1, %2;" : "=h"(result) : "h"(x.bits()), "h"(y.bits()));
    return T::from_bits(result);
  }
}
template <class T> __device__ inline T device_min(T x, T y) {
  if constexpr (std::same_as<T, float>) {
    float result;
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(x), "f"(y));
    return result;
  } else {
    unsigned short result;
    asm("min.NaN.bf16 %0, %1, %2;" : "=h"(result) : "h"(x.bits()), "h"(y.bits()));
    return T::from_bits(result);
  }
}
} // namespace detail
#endif

/// The larger one; NaN if either is.
template <element T> PARALLAX_HD constexpr T max(T x, T y) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  if constexpr (detail::has_extreme_instruction<T>)
    if (!__builtin_is_constant_evaluated()) return detail::device_max(x, y);
#endif
  return x > y || detail::is_nan(x) ? x : y;
}

/// The smaller one; NaN if either is.
template <element T> PARALLAX_HD constexpr T min(T x, T y) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  if constexpr (detail::has_extreme_instruction<T>)
    if (!__builtin_is_constant_evaluated()) return detail::device_min(x, y);
#endif
  return x < y || detail::is_nan(x) ? x : y;
}

/// |x|; the most negative integer stays.
template <number_element T> PARALLAX_HD inline T abs(T x) {
  if constexpr (floating_element<T>) return detail::narrow<T>(std::fabs(detail::widen(x)));
  else return std::signed_integral<T> && x < T{0} ? neg(x) : x;
}

/// -1, 0 or 1 by the sign of x; a floating zero or NaN stays as it is.
template <number_element T> PARALLAX_HD constexpr T sign(T x) {
  if (x > T{0}) return T{1};
  return detail::has_sign<T> && x < T{0} ? static_cast<T>(-1) : x;
}

// ---- bits -----------------------------------------------------------------------------------------------------------

template <element T>
  requires(!floating_element<T>)
PARALLAX_HD constexpr T bit_and(T x, T y) {
  return static_cast<T>(x & y);
}
template <element T>
  requires(!floating_element<T>)
PARALLAX_HD constexpr T bit_or(T x, T y) {
  return static_cast<T>(x | y);
}
template <element T>
  requires(!floating_element<T>)
PARALLAX_HD constexpr T bit_xor(T x, T y) {
  return static_cast<T>(x ^ y);
}
template <element T>
  requires(!floating_element<T>)
PARALLAX_HD constexpr T bit_not(T x) {
  if constexpr (std::same_as<T, bool>) return !x;
  else return static_cast<T>(~x);
}

namespace detail {
/// A shift distance, read as unsigned and cut to `limit`.
template <integer_element T> PARALLAX_HD constexpr int shift_distance(T y, int limit) {
  auto distance = static_cast<std::make_unsigned_t<T>>(y);
  return distance < static_cast<std::make_unsigned_t<T>>(limit) ? static_cast<int>(distance) : limit;
}
template <class T> inline constexpr int width = 8 * static_cast<int>(sizeof(T));
} // namespace detail

/// x shifted towards its high bits; 0 once y, read as unsigned, reaches the width.
template <integer_element T> PARALLAX_HD constexpr T shift_left(T x, T y) {
  int distance = detail::shift_distance(y, detail::width<T>);
  return distance == detail::width<T> ? T{0} : static_cast<T>(detail::wrap(x) << distance);
}

/// x shifted towards its low bits, zeros coming in; 0 once y, read as unsigned, reaches the width.
template <integer_element T> PARALLAX_HD constexpr T shift_right_logical(T x, T y) {
  int distance = detail::shift_distance(y, detail::width<T>);
  return distance == detail::width<T> ? T{0} : static_cast<T>(static_cast<std::make_unsigned_t<T>>(x) >> distance);
}

/// x shifted towards its low bits, copies of the top bit coming in, whether or not the type is signed.
template <integer_element T> PARALLAX_HD constexpr T shift_right_arithmetic(T x, T y) {
  int distance = detail::shift_distance(y, detail::width<T> - 1);
  return static_cast<T>(static_cast<std::make_signed_t<T>>(x) >> distance);
}

// ---- comparisons and choices ----------------------------------------------------------------------------------------

template <element T> PARALLAX_HD constexpr bool lt(T x, T y) { return x < y; }
template <element T> PARALLAX_HD constexpr bool le(T x, T y) { return x <= y; }
template <element T> PARALLAX_HD constexpr bool gt(T x, T y) { return x > y; }
template <element T> PARALLAX_HD constexpr bool ge(T x, T y) { return x >= y; }
template <element T> PARALLAX_HD constexpr bool eq(T x, T y) { return x == y; }
template <element T> PARALLAX_HD constexpr bool ne(T x, T y) { return x != y; }

/// x if the condition holds, else y.
template <element T> PARALLAX_HD constexpr T select(bool condition, T x, T y) { return condition ? x : y; }

/// Neither infinite nor NaN.
template <floating_element T> PARALLAX_HD constexpr bool is_finite(T x) {
  using wide = decltype(detail::widen(x));
  return detail::widen(x) >= detail::lowest<wide> && detail::widen(x) <= detail::largest<wide>;
}

// ---- conversions ----------------------------------------------------------------------------------------------------

/// x as a `To`. From floating to integer it is truncated and saturates, NaN becoming 0; between integers it wraps.
template <element To, element From> PARALLAX_HD constexpr To convert(From x) {
  if constexpr (std::same_as<To, From>) {
    return x;
  } else if constexpr (std::same_as<To, bool>) {
    return x != From{0};
  } else if constexpr (floating16_element<From> && integer_element<To>) {
    return convert<To>(static_cast<float>(x));
  } else if constexpr (floating_element<From> && integer_element<To>) {
    if (x != x) return To{0};
    if (x <= static_cast<From>(detail::lowest<To>)) return detail::lowest<To>;
    return x >= static_cast<From>(detail::largest<To>) ? detail::largest<To> : static_cast<To>(x);
  } else if constexpr (floating_element<From>) {
    return static_cast<To>(detail::widen(x));
  } else {
    return static_cast<To>(x);
  }
}

/// The bits of x read as a `To` of the same size.
template <element To, element From>
  requires(sizeof(To) == sizeof(From) && std::same_as<To, bool> == std::same_as<From, bool>)
PARALLAX_HD constexpr To bit_cast(From x) {
  return __builtin_bit_cast(To, x);
}

// ---- functions ------------------------------------------------------------------------------------------------------

template <floating_element T> PARALLAX_HD inline T exp(T x) { return detail::narrow<T>(std::exp(detail::widen(x))); }
template <floating_element T> PARALLAX_HD inline T expm1(T x) {
  return detail::narrow<T>(std::expm1(detail::widen(x)));
}
template <floating_element T> PARALLAX_HD inline T log(T x) { return detail::narrow<T>(std::log(detail::widen(x))); }
template <floating_element T> PARALLAX_HD inline T log1p(T x) {
  return detail::narrow<T>(std::log1p(detail::widen(x)));
}
template <floating_element T> PARALLAX_HD inline T tanh(T x) { return detail::narrow<T>(std::tanh(detail::widen(x))); }
template <floating_element T> PARALLAX_HD inline T sin(T x) { return detail::narrow<T>(std::sin(detail::widen(x))); }
template <floating_element T> PARALLAX_HD inline T cos(T x) { return detail::narrow<T>(std::cos(detail::widen(x))); }
template <floating_element T> PARALLAX_HD inline T tan(T x) { return detail::narrow<T>(std::tan(detail::widen(x))); }
template <floating_element T> PARALLAX_HD inline T erf(T x) { return detail::narrow<T>(std::erf(detail::widen(x))); }
template <floating_element T> PARALLAX_HD inline T sqrt(T x) { return detail::narrow<T>(std::sqrt(detail::widen(x))); }
template <floating_element T> PARALLAX_HD inline T floor(T x) {
  return detail::narrow<T>(std::floor(detail::widen(x)));
}
template <floating_element T> PARALLAX_HD inline T ceil(T x) { return detail::narrow<T>(std::ceil(detail::widen(x))); }
/// x to the power y.
template <floating_element T> PARALLAX_HD inline T pow(T x, T y) {
  return detail::narrow<T>(std::pow(detail::widen(x), detail::widen(y)));
}

} // namespace parallax::PARALLAX_INLINE_VERSION::math

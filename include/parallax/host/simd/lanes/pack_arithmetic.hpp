// The exact operations of kernels on packs: arithmetic, bits, comparisons, conversions. Meanings: math/scalar_math.hpp.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/host/simd/lanes/pack_choose.hpp>
#include <parallax/host/simd/lanes/pack_float16.hpp>
#include <parallax/host/simd/lanes/pack_type.hpp>
#include <parallax/host/simd/lanes/registers.hpp>
#include <parallax/math/scalar_math.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS {

namespace detail {

/// The vector that repeats `value` in every lane of a part of `P`.
template <class P> PARALLAX_INLINE typename P::part_type repeat(typename P::value_type value) {
  return P(value).template part<0>();
}

/// Keeps the lanes of bytes below 256 after an operation that may have carried out of them.
template <class T> PARALLAX_INLINE pack<T> wrap(const pack<T>& x) {
  if constexpr (std::is_same_v<T, std::uint8_t>) return by_parts<pack<T>>([](auto part) { return part & 0xFFU; }, x);
  else return x;
}

/// Adds, subtracts or multiplies: integers as unsigned ones, which wrap.
template <class T, class F> PARALLAX_INLINE pack<T> wrapping(F f, const pack<T>& x, const pack<T>& y) {
  if constexpr (floating16_element<T>) return rounded<T>(by_parts<pack<float>>(f, x, y));
  else if constexpr (std::is_floating_point_v<T>) return by_parts<pack<T>>(f, x, y);
  else {
    using bits = typename pack<T>::bits_type;
    return wrap(by_parts<pack<T>>([f](auto a, auto b) { return f(bits(a), bits(b)); }, x, y));
  }
}

/// Compares the parts by `f` and makes a mask of 32-bit lanes of the result.
template <class T, class F> PARALLAX_INLINE pack<bool> compare(F f, const pack<T>& x, const pack<T>& y) {
  if constexpr (pack<T>::parts == 1) return by_parts<pack<bool>>(f, x, y);
  else return convert_lanes<pack<bool>>(by_parts<pack<std::int64_t>>(f, x, y));
}

} // namespace detail

using math::floating_element, math::floating16_element, math::integer_element, math::number_element;

// ---- arithmetic -----------------------------------------------------------------------------------------------------

// With the pragma clang, too, contracts a product and a sum of it, which are far apart here, to a fused multiply-add.
#ifdef __clang__
#define PARALLAX_CONTRACT _Pragma("clang fp contract(fast)")
#else
#define PARALLAX_CONTRACT
#endif

template <element T> PARALLAX_INLINE pack<T> add(const pack<T>& x, const pack<T>& y) {
  if constexpr (std::is_same_v<T, bool>) return detail::by_parts<pack<T>>([](auto a, auto b) { return a | b; }, x, y);
  else return detail::wrapping([](auto a, auto b) { PARALLAX_CONTRACT return a + b; }, x, y);
}

template <number_element T> PARALLAX_INLINE pack<T> sub(const pack<T>& x, const pack<T>& y) {
  return detail::wrapping([](auto a, auto b) { PARALLAX_CONTRACT return a - b; }, x, y);
}

template <element T> PARALLAX_INLINE pack<T> mul(const pack<T>& x, const pack<T>& y) {
  if constexpr (std::is_same_v<T, bool>) return detail::by_parts<pack<T>>([](auto a, auto b) { return a & b; }, x, y);
  else return detail::wrapping([](auto a, auto b) { PARALLAX_CONTRACT return a * b; }, x, y);
}

template <number_element T> PARALLAX_INLINE pack<T> neg(const pack<T>& x) {
  if constexpr (floating_element<T>) return detail::by_parts<pack<T>>([](auto a) { return -a; }, x);
  else return sub(pack<T>(T{0}), x);
}

#undef PARALLAX_CONTRACT

// ---- bits -----------------------------------------------------------------------------------------------------------

template <element T>
  requires(!floating_element<T>)
PARALLAX_INLINE pack<T> bit_and(const pack<T>& x, const pack<T>& y) {
  return detail::by_parts<pack<T>>([](auto a, auto b) { return a & b; }, x, y);
}

template <element T>
  requires(!floating_element<T>)
PARALLAX_INLINE pack<T> bit_or(const pack<T>& x, const pack<T>& y) {
  return detail::by_parts<pack<T>>([](auto a, auto b) { return a | b; }, x, y);
}

template <element T>
  requires(!floating_element<T>)
PARALLAX_INLINE pack<T> bit_xor(const pack<T>& x, const pack<T>& y) {
  return detail::by_parts<pack<T>>([](auto a, auto b) { return a ^ b; }, x, y);
}

template <element T>
  requires(!floating_element<T>)
PARALLAX_INLINE pack<T> bit_not(const pack<T>& x) {
  return detail::wrap(detail::by_parts<pack<T>>([](auto a) { return ~a; }, x));
}

template <integer_element T> PARALLAX_INLINE pack<T> shift_left(const pack<T>& x, const pack<T>& y) {
  using bits = typename pack<T>::bits_type;
  constexpr auto width = static_cast<typename detail::bits_of<typename pack<T>::lane_type>::type>(8 * sizeof(T));
  auto shift = [](auto a, auto b) { return (bits(a) << (bits(b) & (width - 1))) & bits(bits(b) < width); };
  return detail::wrap(detail::by_parts<pack<T>>(shift, x, y));
}

template <integer_element T> PARALLAX_INLINE pack<T> shift_right_logical(const pack<T>& x, const pack<T>& y) {
  using bits = typename pack<T>::bits_type;
  constexpr auto width = static_cast<typename detail::bits_of<typename pack<T>::lane_type>::type>(8 * sizeof(T));
  auto shift = [](auto a, auto b) { return (bits(a) >> (bits(b) & (width - 1))) & bits(bits(b) < width); };
  return detail::by_parts<pack<T>>(shift, x, y);
}

template <integer_element T> PARALLAX_INLINE pack<T> shift_right_arithmetic(const pack<T>& x, const pack<T>& y) {
  using bits = typename pack<T>::bits_type;
  using mask = typename pack<T>::mask_type;
  constexpr auto width = static_cast<typename detail::bits_of<typename pack<T>::lane_type>::type>(8 * sizeof(T));
  constexpr int unused = 8 * static_cast<int>(sizeof(typename pack<T>::lane_type) - sizeof(T));
  auto shift = [](auto a, auto b) {
    mask extended = mask(bits(a) << unused) >> unused;
    mask signs = extended >> static_cast<int>(width - 1);
    return detail::choose(mask(bits(b) < width), extended >> mask(bits(b) & (width - 1)), signs);
  };
  return detail::wrap(detail::by_parts<pack<T>>(shift, x, y));
}

// ---- comparisons and choices ----------------------------------------------------------------------------------------

template <element T> PARALLAX_INLINE pack<bool> lt(const pack<T>& x, const pack<T>& y) {
  // true is -1 in a lane
  if constexpr (std::is_same_v<T, bool>) return detail::compare([](auto a, auto b) { return a > b; }, x, y);
  else return detail::compare([](auto a, auto b) { return a < b; }, x, y);
}

template <element T> PARALLAX_INLINE pack<bool> le(const pack<T>& x, const pack<T>& y) {
  if constexpr (std::is_same_v<T, bool>) return detail::compare([](auto a, auto b) { return a >= b; }, x, y);
  else return detail::compare([](auto a, auto b) { return a <= b; }, x, y);
}

template <element T> PARALLAX_INLINE pack<bool> gt(const pack<T>& x, const pack<T>& y) { return lt(y, x); }

template <element T> PARALLAX_INLINE pack<bool> ge(const pack<T>& x, const pack<T>& y) { return le(y, x); }

template <element T> PARALLAX_INLINE pack<bool> eq(const pack<T>& x, const pack<T>& y) {
  return detail::compare([](auto a, auto b) { return a == b; }, x, y);
}

template <element T> PARALLAX_INLINE pack<bool> ne(const pack<T>& x, const pack<T>& y) {
  return detail::compare([](auto a, auto b) { return a != b; }, x, y);
}

template <element T> PARALLAX_INLINE pack<T> select(const pack<bool>& condition, const pack<T>& x, const pack<T>& y) {
  auto choose = [](auto mask, auto a, auto b) { return detail::choose(mask, a, b); };
  if constexpr (pack<T>::parts == 1) return detail::by_parts<pack<T>>(choose, condition, x, y);
  else return detail::by_parts<pack<T>>(choose, detail::convert_lanes<pack<std::int64_t>>(condition), x, y);
}

template <element T> PARALLAX_INLINE pack<T> max(const pack<T>& x, const pack<T>& y) {
  if constexpr (std::is_same_v<T, bool>) return bit_or(x, y);
  else
    return detail::by_parts<pack<T>>(
        [](auto a, auto b) {
          auto larger = detail::larger_of(a, b);
          if constexpr (floating_element<T>) return detail::choose(a != a, a, larger);
          else return larger;
        },
        x, y);
}

template <element T> PARALLAX_INLINE pack<T> min(const pack<T>& x, const pack<T>& y) {
  if constexpr (std::is_same_v<T, bool>) return bit_and(x, y);
  else
    return detail::by_parts<pack<T>>(
        [](auto a, auto b) {
          auto smaller = detail::smaller_of(a, b);
          if constexpr (floating_element<T>) return detail::choose(a != a, a, smaller);
          else return smaller;
        },
        x, y);
}

template <number_element T> PARALLAX_INLINE pack<T> abs(const pack<T>& x) {
  using part_type = typename pack<T>::part_type;
  using bits = typename pack<T>::bits_type;
  if constexpr (floating_element<T>)
    return detail::by_parts<pack<T>>(
        [](auto a) { return part_type(bits(a) & ~bits(detail::repeat<pack<T>>(T(-0.0)))); }, x);
  else if constexpr (math::detail::has_sign<T>) return max(x, neg(x));
  else return x;
}

template <number_element T> PARALLAX_INLINE pack<T> sign(const pack<T>& x) {
  return detail::by_parts<pack<T>>(
      [](auto a) {
        const auto zero = detail::repeat<pack<T>>(T{0}), one = detail::repeat<pack<T>>(T{1});
        auto lower = a;
        if constexpr (math::detail::has_sign<T>) lower = detail::choose(a < zero, zero - one, a);
        return detail::choose(a > zero, one, lower);
      },
      x);
}

template <floating_element T> PARALLAX_INLINE pack<bool> is_finite(const pack<T>& x) {
  return lt(abs(x), pack<T>(std::numeric_limits<T>::infinity()));
}

// ---- conversions ----------------------------------------------------------------------------------------------------

template <element To, element From> PARALLAX_INLINE pack<To> convert(const pack<From>& x) {
  if constexpr (std::is_same_v<To, From>) {
    return x;
  } else if constexpr (std::is_same_v<To, bool>) {
    return ne(x, pack<From>(From{0}));
  } else if constexpr (floating16_element<From>) {
    return convert<To>(detail::widened(x));
  } else if constexpr (floating16_element<To>) {
    return detail::rounded<To>(convert<float>(x));
  } else if constexpr (std::is_same_v<From, bool>) {
    return detail::convert_lanes<pack<To>>(detail::by_parts<pack<std::int32_t>>([](auto a) { return -a; }, x));
  } else if constexpr (std::is_same_v<From, std::uint8_t>) {
    // signed 32-bit lanes have more conversions than unsigned ones on most machines
    return detail::convert_lanes<pack<To>>(detail::by_parts<pack<std::int32_t>>([](auto a) { return a; }, x));
  } else if constexpr (floating_element<From> && std::is_same_v<To, std::uint8_t>) {
    auto clamped = select(lt(x, pack<From>(From{255})), x, pack<From>(From{255}));
    auto whole = convert<std::int32_t>(select(gt(clamped, pack<From>(From{0})), clamped, pack<From>(From{0})));
    return detail::convert_lanes<pack<To>>(select(eq(x, x), whole, pack<std::int32_t>(0)));
  } else if constexpr (floating_element<From> && integer_element<To>) {
    constexpr To lowest = std::numeric_limits<To>::min(), highest = std::numeric_limits<To>::max();
    auto below = le(x, pack<From>(static_cast<From>(lowest)));
    auto above = ge(x, pack<From>(static_cast<From>(highest)));
    auto inside = bit_and(bit_not(bit_or(below, above)), eq(x, x));
    auto whole = detail::convert_lanes<pack<To>>(select(inside, x, pack<From>(From{0})));
    return select(below, pack<To>(lowest), select(above, pack<To>(highest), whole));
  } else {
    return detail::wrap(detail::convert_lanes<pack<To>>(x));
  }
}

template <element To, element From>
  requires(sizeof(To) == sizeof(From) && std::same_as<To, bool> == std::same_as<From, bool>)
PARALLAX_INLINE pack<To> bit_cast(const pack<From>& x) {
  if constexpr (sizeof(To) == 2) return detail::from_halves<To>(detail::to_halves(x));
  else return detail::by_parts<pack<To>>([](auto a) { return a; }, x);
}

/// For functions that have no vector form.
template <class Function, floating_element T, std::same_as<pack<T>>... More>
PARALLAX_INLINE pack<T> each_lane(Function function, const pack<T>& x, const More&... more) {
  if constexpr (floating16_element<T>)
    return detail::rounded<T>(each_lane(function, detail::widened(x), detail::widened(more)...));
  else return detail::by_lanes<pack<T>>(function, x, more...);
}

// ---- division -------------------------------------------------------------------------------------------------------

template <number_element T> PARALLAX_INLINE pack<T> div(const pack<T>& x, const pack<T>& y) {
  if constexpr (floating16_element<T>) {
    return detail::rounded<T>(div(detail::widened(x), detail::widened(y)));
  } else if constexpr (floating_element<T>) {
    return detail::by_parts<pack<T>>([](auto a, auto b) { return a / b; }, x, y);
  } else if constexpr (sizeof(T) == 8) {
    return detail::by_lanes<pack<T>>([](T a, T b) { return math::div(a, b); }, x, y);
  } else {
    // A double holds both operands, and its rounding cannot reach the next whole number.
    auto quotient = convert<T>(div(convert<double>(x), convert<double>(y)));
    if constexpr (std::is_signed_v<T>) quotient = select(eq(y, pack<T>(T{-1})), neg(x), quotient);
    return select(eq(y, pack<T>(T{0})), pack<T>(static_cast<T>(-1)), quotient);
  }
}

template <number_element T> PARALLAX_INLINE pack<T> rem(const pack<T>& x, const pack<T>& y) {
  if constexpr (floating_element<T>) return each_lane([](auto a, auto b) { return math::rem(a, b); }, x, y);
  else return sub(x, mul(div(x, y), y));
}

} // namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS

// Sine, cosine and tangent on packs, inlined, with errors below 2 units in the last place.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/host/simd/functions/function_tables.hpp>
#include <parallax/host/simd/functions/pack_polynomial.hpp>
#include <parallax/host/simd/lanes/pack_arithmetic.hpp>
#include <parallax/host/simd/lanes/pack_fused.hpp>
#include <parallax/host/simd/lanes/pack_reduce.hpp>
#include <parallax/host/simd/lanes/registers.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS {

namespace detail {

/// Numbers and series of pi. For angles beyond `largest`, the pieces of pi do not give the distance to the next
/// multiple.
template <class T> struct circle;
template <> struct circle<float> {
  static constexpr float largest = fuses_products ? 0x1p14f : 0x1p11f;
  static constexpr const auto& fused = tables::pi_fused_of_floats;
  static constexpr const auto& fused_exactly = tables::pi_fused_exactly_of_floats;
  static constexpr const auto& short_ones = tables::pi_short_of_floats;
  static constexpr const auto& sine_series = tables::sine_series_of_floats;
  static constexpr const auto& tangent_series = tables::tangent_series_of_floats;
  static constexpr std::uint32_t upper_half = 0xfffff000;
};
template <> struct circle<double> {
  static constexpr double largest = fuses_products ? 0x1p25 : 0x1p16;
  static constexpr const auto& fused = tables::pi_fused_of_doubles;
  static constexpr const auto& fused_exactly = tables::pi_fused_exactly_of_doubles;
  static constexpr const auto& short_ones = tables::pi_short_of_doubles;
  static constexpr const auto& sine_series = tables::sine_series_of_doubles;
  static constexpr const auto& tangent_series = tables::tangent_series_of_doubles;
  static constexpr std::uint64_t upper_half = 0xfffffffff8000000;
};

/// A whole number, `value`; the low bits of `shifted` are the number too.
template <class T> struct whole_part {
  typename pack<T>::part_type shifted, value;
};
/// The whole number next to x. Added to a number of the size of `large`, a small one is rounded to a whole one.
template <class T> PARALLAX_INLINE whole_part<T> nearest_whole(typename pack<T>::part_type x) {
  const auto large = repeat<pack<T>>(T(1.5) / std::numeric_limits<T>::epsilon()), shifted = x + large;
  return {shifted, shifted - large};
}

/// x - count * pi, with a count that is a whole number or half a number more.
template <class T>
PARALLAX_INLINE typename pack<T>::part_type minus_multiple_of_pi(typename pack<T>::part_type x,
                                                                 typename pack<T>::part_type count) {
  if constexpr (fuses_products)
    for (const T piece : circle<T>::fused) x = minus_product(x, count, repeat<pack<T>>(piece));
  else
    for (const T piece : circle<T>::short_ones) x = minus_product(x, count, repeat<pack<T>>(piece));
  return x;
}

/// sin(r) for |r| <= pi / 2, negated if the lowest bit of `halves` is 1.
template <class T>
PARALLAX_INLINE typename pack<T>::part_type sine_of_remainder(typename pack<T>::part_type r,
                                                              typename pack<T>::bits_type halves) {
  using part_type = typename pack<T>::part_type;
  using bits = typename pack<T>::bits_type;
  // sin(r) / r = 1 - r^2 / 8 + a rest so small that its errors do not count
  const part_type square = r * r, small = square * polynomial<pack<T>>(square, circle<T>::sine_series);
  const part_type sine = r * (small - square * repeat<pack<T>>(T(0.125))) + r;
  const bits sign = bits(repeat<pack<T>>(T(-0.0))); // which a zero has lost
  return part_type((bits(sine) | (bits(r) & sign)) ^ (halves << static_cast<int>(8 * sizeof(T) - 1)));
}

template <class T> PARALLAX_INLINE typename pack<T>::part_type sin_part(typename pack<T>::part_type x) {
  const whole_part<T> whole = nearest_whole<T>(x * repeat<pack<T>>(T(0.318309886183790671538)));
  return sine_of_remainder<T>(minus_multiple_of_pi<T>(x, whole.value), typename pack<T>::bits_type(whole.shifted));
}

// cos(x) = -sin(x - pi / 2)
template <class T> PARALLAX_INLINE typename pack<T>::part_type cos_part(typename pack<T>::part_type x) {
  const auto half = repeat<pack<T>>(T(0.5));
  const whole_part<T> whole = nearest_whole<T>(x * repeat<pack<T>>(T(0.318309886183790671538)) - half);
  return sine_of_remainder<T>(minus_multiple_of_pi<T>(x, whole.value + half),
                              ~typename pack<T>::bits_type(whole.shifted));
}

/// x - count * pi / 2 = near + rest, with `rest` less than the last bit of `near`.
template <class T> struct precise_remainder {
  typename pack<T>::part_type near, rest;
};
template <class T>
PARALLAX_INLINE precise_remainder<T> minus_multiple_of_half_pi(typename pack<T>::part_type x,
                                                               typename pack<T>::part_type count) {
  using part_type = typename pack<T>::part_type;
  constexpr const auto& pieces = *[] {
    if constexpr (fuses_products) return &circle<T>::fused_exactly;
    else return &circle<T>::short_ones;
  }();
  constexpr std::size_t last = std::extent_v<std::remove_reference_t<decltype(pieces)>> - 1;
  const part_type first = minus_product(x, count, repeat<pack<T>>(pieces[0] / 2)); // exact, and so is count * second
  const part_type second = repeat<pack<T>>(pieces[1] / 2);
  part_type near = minus_product(first, count, second), rest = minus_product(first - near, count, second);
  PARALLAX_UNROLL(4)
  for (std::size_t i = 2; i < last; ++i) {
    const part_type piece = repeat<pack<T>>(pieces[i] / 2), before = near;
    near = minus_product(before, count, piece);
    rest = minus_product(rest + (before - near), count, piece);
  }
  return {near, minus_product(rest, count, repeat<pack<T>>(pieces[last] / 2))};
}

// tan(r) = r + rest, or, near an odd multiple of pi / 2, minus the reciprocal of this sum. For the reciprocal, both sum
// and reciprocal are split into half of the bits and a correction, so that their products are exact (as in Sun's
// fdlibm, k_tan.c).
template <class T> PARALLAX_INLINE typename pack<T>::part_type tan_part(typename pack<T>::part_type x) {
  using part_type = typename pack<T>::part_type;
  using bits = typename pack<T>::bits_type;
  using mask = typename pack<T>::mask_type;
  const whole_part<T> whole = nearest_whole<T>(x * repeat<pack<T>>(T(0.636619772367581343076)));
  const auto [r, rest_of_r] = minus_multiple_of_half_pi<T>(x, whole.value);
  const bits sign = bits(repeat<pack<T>>(T(-0.0))); // which a zero would lose
  const part_type square = r * r, one = repeat<pack<T>>(T{1});
  const part_type series = square * series_of<pack<T>>(square, circle<T>::tangent_series);
  const part_type rest = r * series + (square * rest_of_r + rest_of_r);
  const part_type tangent = part_type(bits(r + rest) | (bits(r) & sign));
  const part_type upper = part_type(bits(tangent) & circle<T>::upper_half), lower = rest - (upper - r);
  const part_type reciprocal = -one / tangent, short_reciprocal = part_type(bits(reciprocal) & circle<T>::upper_half);
  const part_type error = (one + short_reciprocal * upper) + short_reciprocal * lower;
  const mask is_odd = mask{} - mask(bits(whole.shifted) & 1); // numbers of 64 bits cannot be compared everywhere
  return choose(is_odd, short_reciprocal + reciprocal * error, tangent);
}

/// y, but f(x) in lanes with large x.
template <class T, class F>
PARALLAX_WITHOUT_LANES typename pack<T>::part_type large_angles_part(typename pack<T>::part_type y,
                                                                     typename pack<T>::part_type x, F f) {
  for (int i = 0; i < pack<T>::part_lanes; ++i)
    if (std::fabs(x[i]) > circle<T>::largest) y[i] = f(x[i]);
  return y;
}
template <std::floating_point T, class F>
PARALLAX_INLINE pack<T> with_large_angles(const pack<T>& y, const pack<T>& x, F f) {
  using part_type = typename pack<T>::part_type;
  const auto is_large = [](part_type part) PARALLAX_INLINE_LAMBDA {
    const auto sign = typename pack<T>::bits_type(repeat<pack<T>>(T(-0.0)));
    return part_type(typename pack<T>::bits_type(part) & ~sign) > repeat<pack<T>>(circle<T>::largest);
  };
  if (!any_lane(x, is_large)) [[likely]]
    return y;
  return by_parts<pack<T>>([f](auto a, auto b) { return large_angles_part<T>(a, b, f); }, y, x);
}

} // namespace detail

template <std::floating_point T> PARALLAX_INLINE pack<T> sin(const pack<T>& x) {
  const pack<T> y = detail::by_parts<pack<T>>([](auto part) { return detail::sin_part<T>(part); }, x);
  return detail::with_large_angles(y, x, [](T lane) { return math::sin(lane); });
}

template <std::floating_point T> PARALLAX_INLINE pack<T> cos(const pack<T>& x) {
  const pack<T> y = detail::by_parts<pack<T>>([](auto part) { return detail::cos_part<T>(part); }, x);
  return detail::with_large_angles(y, x, [](T lane) { return math::cos(lane); });
}

template <std::floating_point T> PARALLAX_INLINE pack<T> tan(const pack<T>& x) {
  const pack<T> y = detail::by_parts<pack<T>>([](auto part) { return detail::tan_part<T>(part); }, x);
  return detail::with_large_angles(y, x, [](T lane) { return math::tan(lane); });
}

} // namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS

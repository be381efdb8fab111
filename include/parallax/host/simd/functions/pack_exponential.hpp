// The exponential function, tanh and the logarithms on packs, inlined, with errors below 1.1 units in the last place,
// of expm1, tanh and logistic below 2.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/host/simd/functions/function_tables.hpp>
#include <parallax/host/simd/functions/pack_polynomial.hpp>
#include <parallax/host/simd/functions/pack_tables.hpp>
#include <parallax/host/simd/lanes/pack_arithmetic.hpp>
#include <parallax/host/simd/lanes/pack_fused.hpp>
#include <parallax/host/simd/lanes/registers.hpp>

#include <limits>
#include <type_traits>

namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS {

namespace detail {

/// log(2) in two pieces, the first short, and (exp(r) - 1 - r) / r^2 as a polynomial of |r| <= log(2) / 2.
template <class T> struct exponential;
/// Of S. Moshier's Cephes library.
template <> struct exponential<float> {
  static constexpr int mantissa_bits = 23, exponent_bias = 127;
  static constexpr float ln2_high = 0.693359375f, ln2_low = -2.12194440e-4f;
  static constexpr float series[] = {5.0000001201e-1f, 1.6666665459e-1f, 4.1665795894e-2f,
                                     8.3334519073e-3f, 1.3981999507e-3f, 1.9875691500e-4f};
  static constexpr float lowest = -104.0f, highest = 89.0f; // beyond these exp is 0 or infinite
  static constexpr float largest_tanh = 9.1f;               // beyond this tanh is 1
};
template <> struct exponential<double> {
  static constexpr int mantissa_bits = 52, exponent_bias = 1023;
  static constexpr double ln2_high = 0.693145751953125, ln2_low = 1.42860682030941723212e-6;
  static constexpr const auto& series = tables::exponential_series;
  static constexpr double lowest = -746.0, highest = 710.0;
  static constexpr double largest_tanh = 19.1;
};

/// exp(x) = 2^whole (1 + rest); `shifted` has the whole number in its low bits.
template <class T> struct exp_pieces {
  typename pack<T>::part_type whole, shifted, rest;
};
/// `KeepsLost`: also uses the rounding error of the polynomial's argument. Without it, `rest` has an error of up to one
/// unit.
template <class T, bool KeepsLost> PARALLAX_INLINE exp_pieces<T> exp_pieces_of(typename pack<T>::part_type x) {
  using part_type = typename pack<T>::part_type;
  using values = exponential<T>;
  // Added to a number of this size, a small one is rounded to a whole one, which then is in the low bits.
  const part_type large = repeat<pack<T>>(T(1.5) / std::numeric_limits<T>::epsilon());
  const part_type shifted = x * repeat<pack<T>>(T(1.44269504088896340736)) + large, whole = shifted - large;
  const part_type low = repeat<pack<T>>(values::ln2_low), exact = x - whole * repeat<pack<T>>(values::ln2_high);
  const part_type r = exact - whole * low;
  part_type series;
  if constexpr (std::extent_v<decltype(values::series)> > 8)
    series = series_of<pack<T>>(r, values::series); // a long chain otherwise
  else series = polynomial<pack<T>>(r, values::series);
  if constexpr (KeepsLost) return {whole, shifted, (series * (r * r) + ((exact - r) - whole * low)) + r};
  else return {whole, shifted, series * (r * r) + r};
}

template <class T> PARALLAX_INLINE typename pack<T>::part_type exp_part(typename pack<T>::part_type x) {
  using part_type = typename pack<T>::part_type;
  using values = exponential<T>;
  x = smaller_of(repeat<pack<T>>(values::highest), larger_of(repeat<pack<T>>(values::lowest), x)); // NaN stays
  const exp_pieces<T> pieces = exp_pieces_of<T, false>(x);
  const part_type y = pieces.rest + repeat<pack<T>>(T{1});
#ifdef PARALLAX_TABLES
  return scaled(y, pieces.whole);
#else
  // 2^n itself may be out of range when the result is not: two factors, whose exponents have the bias already
  using bits = typename pack<T>::bits_type;
  const bits large = bits(repeat<pack<T>>(T(1.5) / std::numeric_limits<T>::epsilon()));
  const bits both = bits(pieces.shifted) - (large - 2 * values::exponent_bias), half = both >> 1;
  return y * part_type(half << values::mantissa_bits) * part_type((both - half) << values::mantissa_bits);
#endif
}

/// (exp(x) - 1) / 2 = 2^(n-1) rest + 2^(n-1) - 1/2
template <class T> PARALLAX_INLINE typename pack<T>::part_type half_expm1_part(typename pack<T>::part_type x) {
  using part_type = typename pack<T>::part_type;
  using bits = typename pack<T>::bits_type;
  const part_type half = repeat<pack<T>>(T(0.5));
  const exp_pieces<T> pieces = exp_pieces_of<T, true>(x);
  const part_type half_power = part_type((bits(pieces.shifted) << exponential<T>::mantissa_bits) + bits(half));
  return half_power * pieces.rest + (half_power - half);
}

template <class T> PARALLAX_INLINE typename pack<T>::part_type expm1_part(typename pack<T>::part_type x) {
  using part_type = typename pack<T>::part_type;
  // below the first one the result is -1; in this order NaN stays
  const part_type lowest = repeat<pack<T>>(T(-40)), highest = repeat<pack<T>>(exponential<T>::highest);
  const part_type h = half_expm1_part<T>(smaller_of(highest, larger_of(lowest, x)));
  // subnormal numbers would lose their last bit, and zero its sign
  const part_type least = repeat<pack<T>>(std::numeric_limits<T>::min());
  return choose(x < least, choose(x > -least, x, h + h), h + h);
}

// tanh(x) = h / (1 + h) with h = (exp(2x) - 1) / 2, of the absolute value.
template <class T> PARALLAX_INLINE typename pack<T>::part_type tanh_part(typename pack<T>::part_type x) {
  using part_type = typename pack<T>::part_type;
  using bits = typename pack<T>::bits_type;
  const bits sign = bits(repeat<pack<T>>(T(-0.0)));
  // beyond this 1 + h is h; in this order NaN stays
  const part_type size = smaller_of(repeat<pack<T>>(exponential<T>::largest_tanh), part_type(bits(x) & ~sign));
  const part_type h = half_expm1_part<T>(size + size), y = h / (repeat<pack<T>>(T{1}) + h);
  // the same, and the error of 1 + h is small beside h
  const part_type result = choose(h < repeat<pack<T>>(T(0.375)), h - h * y, y);
  return part_type(bits(result) | (bits(x) & sign));
}

#ifdef PARALLAX_TABLES
template <> PARALLAX_INLINE float_pack::part_type exp_part<float>(float_pack::part_type x) { return exp_by_table(x); }
template <> PARALLAX_INLINE float_pack::part_type expm1_part<float>(float_pack::part_type x) {
  return expm1_by_table(x);
}
template <> PARALLAX_INLINE float_pack::part_type tanh_part<float>(float_pack::part_type x) { return tanh_by_table(x); }
#else
/// exp(2 x) for |x| < 10, with an error of up to 2 units. The series of 2^r is that of Moshier's Cephes library.
PARALLAX_INLINE pack<float>::part_type exp_of_twice(pack<float>::part_type x) {
  using part_type = pack<float>::part_type;
  using bits = pack<float>::bits_type;
  constexpr float series[] = {6.931472028550421e-1f, 2.402264791363012e-1f, 5.550332471162809e-2f,
                              9.618437357674640e-3f, 1.339887440266574e-3f, 1.535336188319500e-4f};
  const part_type large = repeat<pack<float>>(0x1.8p23f), log2_scale = repeat<pack<float>>(2.885390081777927f);
  const part_type shifted = x * log2_scale + large, r = -minus_product(shifted - large, x, log2_scale);
  const part_type y = r * polynomial<pack<float>>(r, series) + repeat<pack<float>>(1.0f);
  return part_type(bits(y) + (bits(shifted) << exponential<float>::mantissa_bits));
}

// tanh(x) = 1 - 2 / (1 + exp(2x)), of the absolute value; near 0 a series of Moshier's Cephes library.
template <> PARALLAX_INLINE pack<float>::part_type tanh_part<float>(pack<float>::part_type x) {
  using part_type = pack<float>::part_type;
  using bits = pack<float>::bits_type;
  constexpr float series[] = {-3.33332819422e-1f, 1.33314422036e-1f, -5.37397155531e-2f, 2.06390887954e-2f,
                              -5.70498872745e-3f};
  const bits sign = bits(repeat<pack<float>>(-0.0f));
  const part_type size = part_type(bits(x) & ~sign), square = x * x, one = repeat<pack<float>>(1.0f);
  const part_type near_zero = (size * square) * polynomial<pack<float>>(square, series) + size;
  // beyond this the result is 1; in this order NaN stays
  const part_type inside = smaller_of(repeat<pack<float>>(exponential<float>::largest_tanh), size);
  const part_type far = one - repeat<pack<float>>(2.0f) / (exp_of_twice(inside) + one);
  return part_type(bits(choose(size < repeat<pack<float>>(0.625f), near_zero, far)) | (bits(x) & sign));
}
#endif

#if defined(__AVX512F__) && !defined(PARALLAX_TABLES)
/// erf of floats: near 0 a series, and then 1 - exp(2 y) by a series y of half the logarithm.
PARALLAX_INLINE pack<float>::part_type erf_part(pack<float>::part_type x) {
  using part_type = pack<float>::part_type;
  using bits = pack<float>::bits_type;
  const bits sign = bits(repeat<pack<float>>(-0.0f));
  const part_type size = part_type(bits(x) & ~sign), square = x * x, one = repeat<pack<float>>(1.0f);
  const part_type near_zero = size * series_of<pack<float>>(square, tables::erf_near_zero_of_floats) + size;
  const part_type inside = smaller_of(repeat<pack<float>>(4.0f), size); // beyond this it is 1; in this order NaN stays
  const part_type far = one - exp_of_twice(series_of<pack<float>>(inside, tables::half_log_erfc_of_floats));
  return part_type(bits(choose(size < one, near_zero, far)) | (bits(x) & sign));
}
#endif

template <class T> struct logarithm;
template <> struct logarithm<float> {
  using integer = std::int32_t;
  static constexpr int mantissa_bits = 23, exponent_bias = 127;
  static constexpr integer sqrt_half = 0x3f3504f3;
  static constexpr float ln2_high = 6.9313812256e-01f, ln2_low = 9.0580006145e-06f;
  static constexpr float odd[] = {6.6666662693e-01f, 2.8498786688e-01f},
                         even[] = {4.0000972152e-01f, 2.4279078841e-01f};
};
template <> struct logarithm<double> {
  using integer = std::int64_t;
  static constexpr int mantissa_bits = 52, exponent_bias = 1023;
  static constexpr integer sqrt_half = 0x3fe6a09e00000000;
  static constexpr double ln2_high = 6.93147180369123816490e-01, ln2_low = 1.90821492927058770002e-10;
  static constexpr double odd[] = {6.666666666666735130e-01, 2.857142874366239149e-01, 1.818357216161805012e-01,
                                   1.479819860510658591e-01};
  static constexpr double even[] = {3.999999999940941908e-01, 2.222219843214978396e-01, 1.531383769920937332e-01};
};

// log(u) or, if PlusOne, log(1 + u). The argument of the logarithm is 2^k (1 + f) with f between sqrt(1/2) - 1 and
// sqrt(2) - 1, and log(1 + f) = 2 s + s^3 ... with s = f / (2 + f). Coefficients and order of summation are those of
// Sun's fdlibm (e_log.c, s_log1p.c), whose branches have become choices.
template <class T, bool PlusOne> PARALLAX_INLINE typename pack<T>::part_type log_part(typename pack<T>::part_type x) {
  using part_type = typename pack<T>::part_type;
  using bits = typename pack<T>::bits_type;
  using mask = typename pack<T>::mask_type;
  using values = logarithm<T>;
  using integer = typename values::integer;
  const part_type zero{}, one = repeat<pack<T>>(T{1}), infinity = repeat<pack<T>>(std::numeric_limits<T>::infinity());

  part_type argument = x;
  mask k{};
  if constexpr (PlusOne) {
    argument = x + one;
  } else {
    constexpr int shift = values::mantissa_bits + 2;
    mask subnormal = x < repeat<pack<T>>(std::numeric_limits<T>::min());
    argument = choose(subnormal, x * repeat<pack<T>>(static_cast<T>(integer{1} << shift)), x);
    k = subnormal & -integer{shift};
  }
  constexpr integer exponent_of_one = integer{values::exponent_bias} << values::mantissa_bits;
  constexpr integer mantissa_mask = (integer{1} << values::mantissa_bits) - 1;
  mask moved = mask(bits(argument) + static_cast<std::make_unsigned_t<integer>>(exponent_of_one - values::sqrt_half));
  k = k + (moved >> values::mantissa_bits) - integer{values::exponent_bias};
  part_type f = part_type((moved & mantissa_mask) + values::sqrt_half) - one;

  part_type n = __builtin_convertvector(k, part_type), correction{};
  if constexpr (PlusOne) {
    // what rounding 1 + x lost
    correction = choose(k > 1, one - (argument - x), x - (argument - one)) / argument;
    correction = choose(k == 0, zero, correction);
    f = choose(k == 0, x, f);
  }
  part_type s = f / (repeat<pack<T>>(T{2}) + f), z = s * s, w = z * z, half_square = repeat<pack<T>>(T(0.5)) * f * f;
  part_type r = z * polynomial<pack<T>>(w, values::odd) + w * polynomial<pack<T>>(w, values::even);
  part_type low = s * (half_square + r) + (n * repeat<pack<T>>(values::ln2_low) + correction);
  part_type result = low - half_square + f + n * repeat<pack<T>>(values::ln2_high);

  const part_type pole = PlusOne ? -one : zero;
  result = choose(x < infinity, result, x); // NaN too
  result = choose(x < pole, repeat<pack<T>>(std::numeric_limits<T>::quiet_NaN()), result);
  result = choose(x == pole, -infinity, result);
  if constexpr (PlusOne) result = choose(x == zero, x, result); // keeps its sign
  return result;
}

} // namespace detail

template <std::floating_point T> PARALLAX_INLINE pack<T> exp(const pack<T>& x) {
  return detail::by_parts<pack<T>>([](auto part) { return detail::exp_part<T>(part); }, x);
}

template <std::floating_point T> PARALLAX_INLINE pack<T> expm1(const pack<T>& x) {
  return detail::by_parts<pack<T>>([](auto part) { return detail::expm1_part<T>(part); }, x);
}

template <std::floating_point T> PARALLAX_INLINE pack<T> tanh(const pack<T>& x) {
  return detail::by_parts<pack<T>>([](auto part) { return detail::tanh_part<T>(part); }, x);
}

#ifdef PARALLAX_TABLES
/// `math::logistic` of each lane.
PARALLAX_INLINE pack<float> logistic_of_lanes(const pack<float>& x) {
  return detail::by_parts<pack<float>>([](auto part) { return detail::logistic_by_table(part); }, x);
}
#endif

#ifdef __AVX512F__ // for which that of the C library is off by 4 units
PARALLAX_INLINE pack<float> erf(const pack<float>& x) {
#ifdef PARALLAX_TABLES
  return detail::by_parts<pack<float>>([](auto part) { return detail::erf_by_table(part); }, x);
#else
  return detail::by_parts<pack<float>>([](auto part) { return detail::erf_part(part); }, x);
#endif
}
#endif

template <std::floating_point T> PARALLAX_INLINE pack<T> log(const pack<T>& x) {
  return detail::by_parts<pack<T>>([](auto part) { return detail::log_part<T, false>(part); }, x);
}

template <std::floating_point T> PARALLAX_INLINE pack<T> log1p(const pack<T>& x) {
  return detail::by_parts<pack<T>>([](auto part) { return detail::log_part<T, true>(part); }, x);
}

} // namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS

// Functions of floats by tables in registers, which AVX-512 looks up 16 at a time.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/host/simd/functions/function_tables.hpp>
#include <parallax/host/simd/lanes/pack_arithmetic.hpp>
#include <parallax/host/simd/lanes/pack_fused.hpp>
#include <parallax/host/simd/lanes/registers.hpp>

#include <cstdint>

#if !defined(__CUDACC__) && defined(__AVX512F__)
#define PARALLAX_TABLES

namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS::detail {

using float_pack = pack<float>;

/// The elements of a table at the lowest 5 bits of each number.
PARALLAX_INLINE float_pack::part_type looked_up(const float (&table)[32], float_pack::mask_type numbers) {
  float_pack::part_type lower, upper;
  __builtin_memcpy(&lower, table, sizeof lower);
  __builtin_memcpy(&upper, table + 16, sizeof upper);
#ifdef __clang__
  return __builtin_ia32_vpermi2varps512(lower, numbers, upper);
#else
  return __builtin_ia32_vpermt2varps512_mask(numbers, lower, upper, static_cast<unsigned short>(-1));
#endif
}

/// x 2^floor(power)
PARALLAX_INLINE float_pack::part_type scaled(float_pack::part_type x, float_pack::part_type power) {
#ifdef __clang__
  return __builtin_ia32_scalefps512_mask(x, power, x, 0xffff, 4);
#else
  return __builtin_ia32_scalefps512_mask(x, power, x, static_cast<short>(-1), 4);
#endif
}

PARALLAX_INLINE pack<double>::part_type scaled(pack<double>::part_type x, pack<double>::part_type power) {
#ifdef __clang__
  return __builtin_ia32_scalefpd512_mask(x, power, x, 0xff, 4);
#else
  return __builtin_ia32_scalefpd512_mask(x, power, x, static_cast<unsigned char>(-1), 4);
#endif
}

/// exp(x) = 2^floor(power) (high + low + high rest), with high + low = 2^(power - floor(power)).
struct exp_factors {
  float_pack::part_type power, high, low, rest;
};
template <bool IsPreciseNearZero> PARALLAX_INLINE exp_factors exp_factors_of(float_pack::part_type x) {
  using part_type = float_pack::part_type;
  // Added to a number of this size, a small one is rounded to a multiple of 1/32, whose last bits then are the lowest.
  const part_type large = repeat<float_pack>(0x1.8p18f), shifted = x * repeat<float_pack>(1.44269504f) + large;
  const part_type power = shifted - large;
  // log(2) in two pieces, the first short
  part_type r = x - power * repeat<float_pack>(0.693359375f);
  r = r - power * repeat<float_pack>(-2.12194440e-4f);
  const auto numbers = float_pack::mask_type(shifted);
  part_type third = repeat<float_pack>(1.f / 6); // |r| < log(2) / 64
  if constexpr (IsPreciseNearZero) third = r * repeat<float_pack>(1.f / 24) + third;
  const part_type rest = (r * third + repeat<float_pack>(0.5f)) * (r * r) + r;
  return {power, looked_up(tables::powers_of_two, numbers), looked_up(tables::powers_of_two_rest, numbers), rest};
}

PARALLAX_INLINE float_pack::part_type exp_by_table(float_pack::part_type x) {
  // beyond these the result is 0 or infinite; in this order NaN stays
  x = smaller_of(repeat<float_pack>(89.0f), larger_of(repeat<float_pack>(-104.0f), x));
  const auto [power, high, low, rest] = exp_factors_of<false>(x);
  return scaled(high + (high * rest + low), power);
}

PARALLAX_INLINE float_pack::part_type expm1_by_table(float_pack::part_type x) {
  using part_type = float_pack::part_type;
  const part_type one = repeat<float_pack>(1.0f);
  // beyond these the result is -1 or infinite; in this order NaN stays
  const part_type inside = smaller_of(repeat<float_pack>(89.0f), larger_of(repeat<float_pack>(-18.0f), x));
  const auto [power, high, low, rest] = exp_factors_of<true>(inside);
  const part_type one_scaled = scaled(one, repeat<float_pack>(31.f / 32) - power); // 2^-floor(power)
  const part_type result = scaled((high - one_scaled) + (high * rest + low), power);
  return choose(x == part_type{}, x, result); // keeps its sign
}

/// 1 / (1 + exp(-x)) by the exponential s of -|x|: 1 / (1 + s), or s - s^2 / (1 + s) if x is negative.
PARALLAX_INLINE float_pack::part_type logistic_by_table(float_pack::part_type x) {
  using part_type = float_pack::part_type;
  using bits = float_pack::bits_type;
  using mask = float_pack::mask_type;
  const part_type one = repeat<float_pack>(1.0f), minus_size = part_type(bits(x) | bits(repeat<float_pack>(-0.0f)));
  const part_type inside = larger_of(repeat<float_pack>(-104.0f), minus_size); // in this order NaN stays
  // log2(e) in two pieces
  const part_type large = repeat<float_pack>(0x1.8p18f), log2_high = repeat<float_pack>(1.44269502f);
  const part_type shifted = inside * log2_high + large, power = shifted - large;
  const part_type r = inside * repeat<float_pack>(1.92596299e-8f) - minus_product(power, inside, log2_high);
  const auto numbers = mask(shifted);
  const part_type high = looked_up(tables::powers_of_two, numbers),
                  low = looked_up(tables::powers_of_two_rest, numbers);
  const part_type slope =
      (r * repeat<float_pack>(0.0555041087f) + repeat<float_pack>(0.240226507f)) * r + repeat<float_pack>(0.693147181f);
  const part_type s = scaled(high + ((high * r) * slope + low), power);
  const mask is_negative = mask(x) < mask{};
  const part_type y = choose(is_negative, s * s, one) / (one + s);
  return choose(is_negative, s - y, y);
}

/// f(|x|) with the sign of x, by the polynomial of the interval of |x|; for larger |x| the value at `last`.
PARALLAX_INLINE float_pack::part_type odd_by_pieces(const float (&pieces)[7][32], int first_key, float last,
                                                    float_pack::part_type x) {
  using part_type = float_pack::part_type;
  using bits = float_pack::bits_type;
  using mask = float_pack::mask_type;
  const bits sign = bits(repeat<float_pack>(-0.0f));
  const part_type size = smaller_of(repeat<float_pack>(last), part_type(bits(x) & ~sign)); // in this order NaN stays
  const mask number = (mask(size) >> 21) - first_key, inside = number > 0 ? number : mask{};
  const part_type t = size - looked_up(pieces[6], inside);
  part_type y = looked_up(pieces[5], inside);
  PARALLAX_UNROLL(4)
  for (int i = 4; i > 0; --i) y = y * t + looked_up(pieces[i], inside);
  y = y * t + choose(number > 0, looked_up(pieces[0], inside), size);
  return part_type(bits(y) | (bits(x) & sign));
}

PARALLAX_INLINE float_pack::part_type tanh_by_table(float_pack::part_type x) {
  return odd_by_pieces(tables::tanh_pieces, tables::tanh_first_key, 9.1f, x);
}

PARALLAX_INLINE float_pack::part_type erf_by_table(float_pack::part_type x) {
  return odd_by_pieces(tables::erf_pieces, tables::erf_first_key, 3.95f, x);
}

} // namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS::detail
#endif

// The exponential function, tanh of floats and the logarithms on packs, inlined, with errors below 1 unit in the last
// place, of tanh below 2.
#pragma once

#include <parallax/host/simd/pack_arithmetic.hpp>
#include <parallax/host/simd/registers.hpp>

namespace parallax::host::inline PARALLAX_REGISTERS {

namespace detail {

/// A polynomial by Horner's rule, the coefficients from the constant one up.
template <class P, std::size_t N>
PARALLAX_INLINE typename P::part_type polynomial(typename P::part_type x,
                                                 const typename P::value_type (&coefficients)[N]) {
  auto result = repeat<P>(coefficients[N - 1]);
  PARALLAX_UNROLL(8)
  for (std::size_t i = N - 1; i > 0; --i) result = result * x + repeat<P>(coefficients[i - 1]);
  return result;
}

/// exp(x) = 2^n (1 + rest): n as a number, and in the low bits of another one.
struct exp_pieces {
  pack<float>::part_type whole, shifted, rest;
};
// 1 + rest = exp(r) with |r| <= log(2) / 2. log(2) in two pieces, the first short, and the polynomial for exp(r) are
// those of S. Moshier's Cephes library.
PARALLAX_INLINE exp_pieces exp_pieces_of(pack<float>::part_type x) {
  using floats = pack<float>;
  using part_type = floats::part_type;
  static constexpr float coefficients[] = {5.0000001201e-1f, 1.6666665459e-1f, 4.1665795894e-2f,
                                           8.3334519073e-3f, 1.3981999507e-3f, 1.9875691500e-4f};
  // Added to a number of this size, a small one is rounded to a whole one, which then is in the low bits.
  const part_type large = repeat<floats>(0x1.8p23f);
  part_type shifted = x * repeat<floats>(1.44269504f) + large;
  part_type whole = shifted - large;
  part_type r = x - whole * repeat<floats>(0.693359375f);
  r = r - whole * repeat<floats>(-2.12194440e-4f);
  return {whole, shifted, polynomial<floats>(r, coefficients) * (r * r) + r};
}

PARALLAX_INLINE pack<float>::part_type exp_part(pack<float>::part_type x) {
  using floats = pack<float>;
  using part_type = floats::part_type;
  using bits [[maybe_unused]] = floats::bits_type;
  using mask [[maybe_unused]] = floats::mask_type;
  // beyond these the result is 0 or infinite
  const part_type lowest = repeat<floats>(-104.0f), highest = repeat<floats>(89.0f);
  x = smaller_of(highest, larger_of(lowest, x)); // in this order NaN stays
  const auto [whole, shifted, rest] = exp_pieces_of(x);
  part_type y = rest + repeat<floats>(1.0f);
#if !defined(__CUDACC__) && defined(__AVX512F__) && defined(__clang__)
  return __builtin_ia32_scalefps512_mask(y, whole, y, 0xffff, 4);
#elif !defined(__CUDACC__) && defined(__AVX512F__)
  return __builtin_ia32_scalefps512_mask(y, whole, y, static_cast<short>(-1), 4);
#else
  // 2^n itself may be out of range when the result is not
  mask n = mask(bits(shifted) - bits(repeat<floats>(0x1.8p23f))), half = n >> 1;
  y = y * part_type(bits(half + 127) << 23);
  return y * part_type(bits(n - half + 127) << 23);
#endif
}

// tanh(x) = h / (1 + h) with h = (exp(2x) - 1) / 2, of the absolute value. That is 2^(n-1) rest + 2^(n-1) - 1/2.
PARALLAX_INLINE pack<float>::part_type tanh_part(pack<float>::part_type x) {
  using floats = pack<float>;
  using part_type = floats::part_type;
  using bits = floats::bits_type;
  const bits sign = bits(repeat<floats>(-0.0f));
  const part_type half = repeat<floats>(0.5f), one = repeat<floats>(1.0f);
  // beyond this 1 + h is h; in this order NaN stays
  const part_type size = smaller_of(repeat<floats>(9.1f), part_type(bits(x) & ~sign));
  const exp_pieces of_twice = exp_pieces_of(size + size);
  const part_type half_power = part_type((bits(of_twice.shifted) << 23) + bits(half));
  part_type h = half_power * of_twice.rest + (half_power - half);
  part_type y = h / (one + h);
  y = choose(h < repeat<floats>(0.375f), h - h * y, y); // the same, and the error of 1 + h is small beside h
  return part_type(bits(y) | (bits(x) & sign));
}

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

PARALLAX_INLINE pack<float> exp(const pack<float>& x) {
  return detail::by_parts<pack<float>>([](auto part) { return detail::exp_part(part); }, x);
}

PARALLAX_INLINE pack<float> tanh(const pack<float>& x) {
  return detail::by_parts<pack<float>>([](auto part) { return detail::tanh_part(part); }, x);
}

template <std::floating_point T> PARALLAX_INLINE pack<T> log(const pack<T>& x) {
  return detail::by_parts<pack<T>>([](auto part) { return detail::log_part<T, false>(part); }, x);
}

template <std::floating_point T> PARALLAX_INLINE pack<T> log1p(const pack<T>& x) {
  return detail::by_parts<pack<T>>([](auto part) { return detail::log_part<T, true>(part); }, x);
}

} // namespace parallax::host::inline PARALLAX_REGISTERS

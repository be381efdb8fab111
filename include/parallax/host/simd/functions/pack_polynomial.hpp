// Polynomials on registers.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/host/simd/lanes/pack_arithmetic.hpp>
#include <parallax/host/simd/lanes/registers.hpp>

#include <cstddef>

namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS::detail {

/// A polynomial by Horner's rule, the coefficients from the constant one up.
template <class P, std::size_t N>
PARALLAX_INLINE typename P::part_type polynomial(typename P::part_type x,
                                                 const typename P::value_type (&coefficients)[N]) {
  auto result = repeat<P>(coefficients[N - 1]);
  PARALLAX_UNROLL(16)
  for (std::size_t i = N - 1; i > 0; --i) result = result * x + repeat<P>(coefficients[i - 1]);
  return result;
}

/// A polynomial by Estrin's scheme, from two halves of the coefficients: a few more products than Horner's rule, but a
/// third of its latency. `powers` are x, x^2, x^4, ...; `Count` coefficients from `First` on.
template <class P, std::size_t First, std::size_t Count, std::size_t N>
PARALLAX_INLINE typename P::part_type polynomial_by_halves(const typename P::part_type* powers,
                                                           const typename P::value_type (&coefficients)[N]) {
  if constexpr (Count == 1) {
    return repeat<P>(coefficients[First]);
  } else {
    constexpr int power = Count > 8 ? 3 : Count > 4 ? 2 : Count > 2 ? 1 : 0;
    constexpr std::size_t lower = std::size_t{1} << power;
    return polynomial_by_halves<P, First + lower, Count - lower>(powers, coefficients) * powers[power] +
           polynomial_by_halves<P, First, lower>(powers, coefficients);
  }
}

/// A polynomial whose constant coefficient is much larger than the other terms: with one rounding of that size.
template <class P, std::size_t N>
PARALLAX_INLINE typename P::part_type series_of(typename P::part_type x,
                                                const typename P::value_type (&coefficients)[N]) {
  static_assert(N > 1 && N <= 17);
  const auto square = x * x, fourth = square * square;
  const typename P::part_type powers[] = {x, square, fourth, fourth * fourth};
  return polynomial_by_halves<P, 1, N - 1>(powers, coefficients) * x + repeat<P>(coefficients[0]);
}

} // namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS::detail

// Exponentials of squares with an error that does not grow with the square.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/math/scalar_math.hpp>

#include <cstdint>
#include <type_traits>

namespace parallax::PARALLAX_INLINE_VERSION::math {

/// exp(x^2), or exp(-x^2) if `Negative`. With x = h + l, h of so few bits that h^2 is exact, x^2 = h^2 + r with
/// a small r = l (x + h). The result is exp(h^2) times a polynomial in r: rounding x^2 itself would give an error of
/// about x^2 units in the last place.
PARALLAX_CALLS_HOST
template <bool Negative, class V> PARALLAX_HD PARALLAX_INLINE V exp_of_square(const V& x) {
  using T = element_of<V>;
  if constexpr (floating16_element<T>) {
    const auto wide = convert<float>(x); // squares of 16-bit numbers are exact in float32
    const auto square = mul(wide, wide);
    if constexpr (Negative) return convert<T>(exp(neg(square)));
    else return convert<T>(exp(square));
  } else {
    using word = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    constexpr word few_bits = sizeof(T) == 4 ? static_cast<word>(0xFFFFF000) : static_cast<word>(0xFFFFFFFFF8000000);
    const auto bits = bit_cast<word>(x);
    const V high = bit_cast<T>(bit_and(bits, std::remove_cvref_t<decltype(bits)>(few_bits)));
    const V square = mul(high, high), rest = mul(sub(x, high), add(x, high)), zero(T{0});
    // beyond that the first factor is 0 or infinite
    const V signed_rest = select(lt(abs(x), V(T{40})), Negative ? neg(rest) : rest, zero);
    constexpr int terms = sizeof(T) == 4 ? 5 : 3; // r is below 0.11, or 3e-5
    constexpr double coefficients[] = {1, 1, 1. / 2, 1. / 6, 1. / 24, 1. / 120};
    V series(static_cast<T>(coefficients[terms]));
    PARALLAX_UNROLL(5)
    for (int i = terms - 1; i >= 0; --i) series = add(mul(series, signed_rest), V(static_cast<T>(coefficients[i])));
    return mul(exp(Negative ? neg(square) : square), series);
  }
}

} // namespace parallax::PARALLAX_INLINE_VERSION::math

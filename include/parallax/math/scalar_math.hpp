// Operations of a kernel on one element that are composed of others, those of scalar_operations.hpp.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/math/lane_operations.hpp>

/// Each function here is written once, for V an element type or a register of lanes.
namespace parallax::PARALLAX_INLINE_VERSION::math {

/// x shifted towards its low bits: arithmetically if the type is signed, logically otherwise.
PARALLAX_CALLS_HOST
template <class V> PARALLAX_HD PARALLAX_INLINE V shift_right(const V& x, const V& y) {
  if constexpr (std::is_signed_v<element_of<V>>) return shift_right_arithmetic(x, y);
  else return shift_right_logical(x, y);
}

/// 1 / sqrt(x).
PARALLAX_CALLS_HOST
template <class V> PARALLAX_HD PARALLAX_INLINE V rsqrt(const V& x) {
  using T = element_of<V>;
  if constexpr (floating16_element<T>) return convert<T>(rsqrt(convert<float>(x)));
  else return div(V(T{1}), sqrt(x));
}

/// 1 / (1 + exp(-x)), accurate for all x, because the exponential is never larger than 1.
PARALLAX_CALLS_HOST
template <class V> PARALLAX_HD PARALLAX_INLINE V logistic(const V& x) {
  using T = element_of<V>;
  if constexpr (floating16_element<T>) {
    return convert<T>(logistic(convert<float>(x)));
  } else if constexpr (requires { logistic_of_lanes(x); }) {
    return logistic_of_lanes(x);
  } else {
    const V zero(T{0}), one(T{1}), small = exp(neg(abs(x)));
    const auto is_negative = lt(x, zero);
    const V y = div(select(is_negative, small, one), add(one, small));
    return select(is_negative, sub(small, mul(small, y)), y); // equal, and the error of 1 + small is small beside it
  }
}

/// log(exp(x) + exp(y)), which neither overflows nor loses all digits; exact if x or y is minus infinity.
PARALLAX_CALLS_HOST
template <class V> PARALLAX_HD PARALLAX_INLINE V logaddexp(const V& x, const V& y) {
  using T = element_of<V>;
  if constexpr (floating16_element<T>) {
    return convert<T>(logaddexp(convert<float>(x), convert<float>(y)));
  } else {
    const V distance = sub(x, y); // NaN for equal infinities too
    return select(ne(distance, distance), add(x, y), add(max(x, y), log1p(exp(neg(abs(distance))))));
  }
}

/// max(x, 0); NaN stays NaN.
PARALLAX_CALLS_HOST
template <class V> PARALLAX_HD PARALLAX_INLINE V relu(const V& x) { return max(x, V(element_of<V>{})); }

/// Constants of `gelu`: 2 sqrt(2 / pi), and the factor of the cube.
inline constexpr double gelu_scale = 1.5957691216057308, gelu_cubic = 0.044715;

/// x * logistic(v) with v = 2 sqrt(2 / pi) * (x + 0.044715 x^3): the Gaussian error linear unit in its approximation by
/// tanh (Hendrycks and Gimpel, "Gaussian Error Linear Units", 2016).
PARALLAX_CALLS_HOST
template <class V> PARALLAX_HD PARALLAX_INLINE V gelu(const V& x) {
  using T = element_of<V>;
  if constexpr (floating16_element<T>) {
    return convert<T>(gelu(convert<float>(x)));
  } else {
    const V cubic(static_cast<T>(gelu_scale * gelu_cubic)), linear(static_cast<T>(gelu_scale));
    return mul(x, logistic(mul(x, add(linear, mul(cubic, mul(x, x))))));
  }
}

/// The derivative of `gelu`: s + x s (1 - s) v' with s = logistic(v).
PARALLAX_CALLS_HOST
template <class V> PARALLAX_HD PARALLAX_INLINE V gelu_derivative(const V& x) {
  using T = element_of<V>;
  if constexpr (floating16_element<T>) {
    return convert<T>(gelu_derivative(convert<float>(x)));
  } else {
    const V cubic(static_cast<T>(gelu_scale * gelu_cubic)), linear(static_cast<T>(gelu_scale)), one(T{1});
    const V square = mul(cubic, mul(x, x));
    const V s = logistic(mul(x, add(linear, square)));
    const V slope = add(linear, mul(V(T{3}), square));
    return add(s, mul(x, mul(slope, mul(s, sub(one, s))))); // in this order 0 is never multiplied by infinity
  }
}

/// x to the integer power n by squaring, in the order JAX multiplies; the reciprocal's for a negative n.
PARALLAX_CALLS_HOST
template <class V> PARALLAX_HD PARALLAX_INLINE V integer_pow(const V& x, int n) {
  using T = element_of<V>;
  if constexpr (floating16_element<T>) {
    return convert<T>(integer_pow(convert<float>(x), n));
  } else {
    const V one(T{1});
    V result = one, square = x;
    bool empty = true;
    for (unsigned rest = n < 0 ? 0U - static_cast<unsigned>(n) : static_cast<unsigned>(n); rest != 0; rest >>= 1) {
      if (rest & 1) result = empty ? square : mul(result, square), empty = false;
      if (rest > 1) square = mul(square, square);
    }
    return n < 0 ? div(one, result) : result;
  }
}

/// x to the power y, both integers, by squaring; overflow wraps around. A negative y gives 1 / x^-y rounded towards
/// zero, and 0 for x = 0.
PARALLAX_CALLS_HOST
template <class V> PARALLAX_HD PARALLAX_INLINE V integral_pow(const V& x, const V& y) {
  using T = element_of<V>;
  const V zero(T{0}), one(T{1});
  V result = one, square = x, rest = y;
  for (unsigned bit = 0; bit < 8 * sizeof(T); ++bit) {
    result = select(ne(bit_and(rest, one), zero), mul(result, square), result);
    square = mul(square, square);
    rest = shift_right_logical(rest, one);
  }
  if constexpr (std::is_signed_v<T>) {
    // -1 and 1 are right already, since the bits of a negative number keep its parity
    result = select(lt(y, zero), select(eq(abs(x), one), result, zero), result);
  }
  return result;
}

/// The remainder of x * 2^bits + y divided by `divisor`, in unsigned integers of `bits` bits; a divisor of 0 stands for
/// 2^bits.
PARALLAX_CALLS_HOST
template <class V> PARALLAX_HD PARALLAX_INLINE V wide_remainder(const V& x, const V& y, const V& divisor) {
  using T = element_of<V>;
  static_assert(std::is_unsigned_v<T>, "parallax: wide_remainder is of unsigned integers");
  const V zero(T{0});
  if constexpr (requires { wide_remainder_of_lanes(x, y, divisor); }) {
    return wide_remainder_of_lanes(x, y, divisor);
  } else if constexpr (sizeof(T) < 8) {
    const auto wide = [](const V& word) { return convert<std::uint64_t>(word); };
    const std::uint64_t both = wide(x) << 32 | wide(y);
    return divisor == T{0} ? y : convert<T>(rem(both, wide(divisor)));
  } else {
    // one bit of y at a time, since x and y together have more bits than a register
    const V one(T{1}), last(T{63});
    V rest = rem(x, divisor);
    for (T bit = 0; bit < 64; ++bit) {
      const V doubled = bit_or(shift_left(rest, one), bit_and(shift_right_logical(y, sub(last, V(bit))), one));
      const V reduced = sub(doubled, divisor);
      const auto is_small = lt(doubled, divisor);
      const auto has_carried = ne(shift_right_logical(rest, last), zero);
      rest = select(has_carried, reduced, select(is_small, doubled, reduced));
    }
    return select(eq(divisor, zero), y, rest);
  }
}

/// The two words that a block cipher gives.
template <class V> struct word_pair {
  V first, second;
};

/// The Threefry 2x32 block cipher with 20 rounds (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011),
/// of 32-bit words: the counter (x0, x1) encrypted with the key (k0, k1).
PARALLAX_CALLS_HOST
template <class V> PARALLAX_HD PARALLAX_INLINE word_pair<V> threefry2x32(const V& k0, const V& k1, V x0, V x1) {
  static_assert(std::same_as<element_of<V>, std::uint32_t>, "parallax: threefry2x32 works on uint32");
  constexpr std::uint32_t rotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  const V keys[3] = {k0, k1, bit_xor(bit_xor(k0, k1), V(std::uint32_t{0x1BD11BDA}))};
  x0 = add(x0, k0);
  x1 = add(x1, k1);
  PARALLAX_UNROLL(5)
  for (std::uint32_t i = 0; i < 5; ++i) {
    PARALLAX_UNROLL(4)
    for (std::uint32_t distance : rotations[i % 2]) {
      x0 = add(x0, x1);
      x1 = bit_xor(x0, bit_or(shift_left(x1, V(distance)), shift_right_logical(x1, V(32 - distance))));
    }
    x0 = add(x0, keys[(i + 1) % 3]);
    x1 = add(x1, add(keys[(i + 2) % 3], V(i + 1)));
  }
  return word_pair<V>{x0, x1};
}

namespace detail {

// M. Giles, "Approximating the erfinv function" (2011): a polynomial in w = -log(1 - x*x) for each range of w.
PARALLAX_CALLS_HOST
template <class V> PARALLAX_HD PARALLAX_INLINE V erf_inv_single(const V& x, const V& w) {
  constexpr int terms = 9;
  constexpr float centre[terms] = {2.81022636e-08f, 3.43273939e-07f, -3.5233877e-06f, -4.39150654e-06f, 0.00021858087f,
                                   -0.00125372503f, -0.00417768164f, 0.246640727f,    1.50140941f};
  constexpr float tail[terms] = {-0.000200214257f, 0.000100950558f, 0.00134934322f, -0.00367342844f, 0.00573950773f,
                                 -0.0076224613f,   0.00943887047f,  1.00167406f,    2.83297682f};
  auto central = lt(w, V(5.0f));
  V argument = select(central, sub(w, V(2.5f)), sub(sqrt(w), V(3.0f)));
  V p = select(central, V(centre[0]), V(tail[0]));
  PARALLAX_UNROLL(9)
  for (int i = 1; i < terms; ++i) p = add(mul(p, argument), select(central, V(centre[i]), V(tail[i])));
  return mul(p, x);
}

PARALLAX_CALLS_HOST
template <class V> PARALLAX_HD PARALLAX_INLINE V erf_inv_double(const V& x, const V& w) {
  constexpr int tail_terms = 17, middle_terms = 19, terms = 23;
  constexpr double centre[terms] = {
      -3.6444120640178196996e-21, -1.685059138182016589e-19,  1.2858480715256400167e-18,  1.115787767802518096e-17,
      -1.333171662854620906e-16,  2.0972767875968561637e-17,  6.6376381343583238325e-15,  -4.0545662729752068639e-14,
      -8.1519341976054721522e-14, 2.6335093153082322977e-12,  -1.2975133253453532498e-11, -5.4154120542946279317e-11,
      1.051212273321532285e-09,   -4.1126339803469836976e-09, -2.9070369957882005086e-08, 4.2347877827932403518e-07,
      -1.3654692000834678645e-06, -1.3882523362786468719e-05, 0.0001867342080340571352,   -0.00074070253416626697512,
      -0.0060336708714301490533,  0.24015818242558961693,     1.6536545626831027356};
  constexpr double middle[middle_terms] = {
      2.2137376921775787049e-09,  9.0756561938885390979e-08, -2.7517406297064545428e-07, 1.8239629214389227755e-08,
      1.5027403968909827627e-06,  -4.013867526981545969e-06, 2.9234449089955446044e-06,  1.2475304481671778723e-05,
      -4.7318229009055733981e-05, 6.8284851459573175448e-05, 2.4031110387097893999e-05,  -0.0003550375203628474796,
      0.00095328937973738049703,  -0.0016882755560235047313, 0.0024914420961078508066,   -0.0037512085075692412107,
      0.005370914553590063617,    1.0052589676941592334,     3.0838856104922207635};
  constexpr double tail[tail_terms] = {
      -2.7109920616438573243e-11, -2.5556418169965252055e-10, 1.5076572693500548083e-09,  -3.7894654401267369937e-09,
      7.6157012080783393804e-09,  -1.4960026627149240478e-08, 2.9147953450901080826e-08,  -6.7711997758452339498e-08,
      2.2900482228026654717e-07,  -9.9298272942317002539e-07, 4.5260625972231537039e-06,  -1.9681778105531670567e-05,
      7.5995277030017761139e-05,  -0.00021503011930044477347, -0.00013871931833623122026, 1.0103004648645343977,
      4.8499064014085844221};
  auto central = lt(w, V(6.25)), inner = lt(w, V(16.0));
  V argument = select(central, sub(w, V(3.125)), sub(sqrt(w), select(inner, V(3.25), V(5.0))));
  V p(0.0);
  for (int i = 0; i < tail_terms; ++i) {
    V outer = select(inner, V(middle[i]), V(tail[i]));
    p = add(mul(p, argument), select(central, V(centre[i]), outer));
  }
  for (int i = tail_terms; i < middle_terms; ++i)
    p = select(inner, add(mul(p, argument), select(central, V(centre[i]), V(middle[i]))), p);
  for (int i = middle_terms; i < terms; ++i) p = select(central, add(mul(p, argument), V(centre[i])), p);
  return mul(p, x);
}

} // namespace detail

/// The inverse of the error function: infinite at -1 and 1, NaN outside.
PARALLAX_CALLS_HOST
template <class V> PARALLAX_HD PARALLAX_INLINE V erf_inv(const V& x) {
  using T = element_of<V>;
  if constexpr (floating16_element<T>) {
    return convert<T>(erf_inv(convert<float>(x)));
  } else {
    V w = neg(log1p(neg(mul(x, x)))), result = x;
    if constexpr (std::same_as<T, float>) result = detail::erf_inv_single(x, w);
    else result = detail::erf_inv_double(x, w);
    return select(eq(abs(x), V(T{1})), mul(x, V(detail::infinity<T>)), result);
  }
}

} // namespace parallax::PARALLAX_INLINE_VERSION::math

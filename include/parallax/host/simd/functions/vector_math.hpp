// The functions of kernels on packs: those computed here, part by part, and those of the C library's vector functions.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/host/simd/functions/pack_erf.hpp>
#include <parallax/host/simd/functions/pack_exponential.hpp>
#include <parallax/host/simd/functions/pack_trigonometric.hpp>
#include <parallax/host/simd/lanes/pack_arithmetic.hpp>
#include <parallax/host/simd/lanes/registers.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS {

// glibc's libmvec, which every linker finds through libm; most of its functions came with 2.35. Its powers are accurate
// to 1 unit in the last place, erf of floats to 2, and both are right for infinities, NaN and subnormal numbers.
#if defined(__x86_64__) && defined(__GLIBC__)
#if __GLIBC_PREREQ(2, 35)
#define PARALLAX_LIBMVEC
#endif
#endif

#ifdef PARALLAX_LIBMVEC
namespace libmvec {
// The names follow the x86 vector function ABI: instruction set, lanes, arguments, function.
#if defined(__AVX512F__)
#define PARALLAX_SYMBOLS "_ZGVeN16", "_ZGVeN8"
#elif defined(__AVX2__)
#define PARALLAX_SYMBOLS "_ZGVdN8", "_ZGVdN4"
#elif defined(__AVX__)
#define PARALLAX_SYMBOLS "_ZGVcN8", "_ZGVcN4"
#else
#define PARALLAX_SYMBOLS "_ZGVbN4", "_ZGVbN2"
#endif
#define PARALLAX_UNARY_SYMBOLS(f32, f64, name)                                                                         \
  pack<float>::part_type name(pack<float>::part_type) noexcept __asm__(f32 "v_" #name "f");                            \
  pack<double>::part_type name(pack<double>::part_type) noexcept __asm__(f64 "v_" #name);
#define PARALLAX_BINARY_SYMBOLS(f32, f64, name)                                                                        \
  pack<float>::part_type name(pack<float>::part_type, pack<float>::part_type) noexcept __asm__(f32 "vv_" #name "f");   \
  pack<double>::part_type name(pack<double>::part_type, pack<double>::part_type) noexcept __asm__(f64 "vv_" #name);
#define PARALLAX_EXPAND(macro, ...) macro(__VA_ARGS__)
} // namespace libmvec

#define PARALLAX_UNARY(name)                                                                                           \
  namespace libmvec {                                                                                                  \
  PARALLAX_EXPAND(PARALLAX_UNARY_SYMBOLS, PARALLAX_SYMBOLS, name)                                                      \
  }                                                                                                                    \
  template <std::floating_point T> PARALLAX_INLINE pack<T> name(const pack<T>& x) {                                    \
    return detail::by_parts<pack<T>>([](auto part) { return libmvec::name(part); }, x);                                \
  }
#define PARALLAX_BINARY(name)                                                                                          \
  namespace libmvec {                                                                                                  \
  PARALLAX_EXPAND(PARALLAX_BINARY_SYMBOLS, PARALLAX_SYMBOLS, name)                                                     \
  }                                                                                                                    \
  template <std::floating_point T> PARALLAX_INLINE pack<T> name(const pack<T>& x, const pack<T>& y) {                  \
    return detail::by_parts<pack<T>>([](auto a, auto b) { return libmvec::name(a, b); }, x, y);                        \
  }
#else
#define PARALLAX_UNARY(name)                                                                                           \
  template <std::floating_point T> PARALLAX_INLINE pack<T> name(const pack<T>& x) {                                    \
    return detail::by_lanes<pack<T>>([](T lane) { return math::name(lane); }, x);                                      \
  }
#define PARALLAX_BINARY(name)                                                                                          \
  template <std::floating_point T> PARALLAX_INLINE pack<T> name(const pack<T>& x, const pack<T>& y) {                  \
    return detail::by_lanes<pack<T>>([](T a, T b) { return math::name(a, b); }, x, y);                                 \
  }
#endif

PARALLAX_UNARY(erf)
PARALLAX_BINARY(pow)

// of 16 bits: computed as floats and rounded
#define PARALLAX_UNARY_FLOAT16(name)                                                                                   \
  template <floating16_element T> PARALLAX_INLINE pack<T> name(const pack<T>& x) {                                     \
    return detail::rounded<T>(name(detail::widened(x)));                                                               \
  }
PARALLAX_UNARY_FLOAT16(exp)
PARALLAX_UNARY_FLOAT16(expm1)
PARALLAX_UNARY_FLOAT16(log)
PARALLAX_UNARY_FLOAT16(log1p)
PARALLAX_UNARY_FLOAT16(tanh)
PARALLAX_UNARY_FLOAT16(sin)
PARALLAX_UNARY_FLOAT16(cos)
PARALLAX_UNARY_FLOAT16(tan)
PARALLAX_UNARY_FLOAT16(erf)
template <floating16_element T> PARALLAX_INLINE pack<T> pow(const pack<T>& x, const pack<T>& y) {
  return detail::rounded<T>(pow(detail::widened(x), detail::widened(y)));
}
#undef PARALLAX_UNARY_FLOAT16

#undef PARALLAX_UNARY
#undef PARALLAX_BINARY
#ifdef PARALLAX_LIBMVEC
#undef PARALLAX_SYMBOLS
#undef PARALLAX_UNARY_SYMBOLS
#undef PARALLAX_BINARY_SYMBOLS
#undef PARALLAX_EXPAND
#undef PARALLAX_LIBMVEC
#endif

namespace detail {
/// The square root of a part. A loop over the lanes would not become one instruction, as each may have to set errno.
template <class T> PARALLAX_INLINE typename pack<T>::part_type sqrt_part(typename pack<T>::part_type x) {
#if defined(__clang__) && __has_builtin(__builtin_elementwise_sqrt)
  return __builtin_elementwise_sqrt(x);
#elif defined(__SSE2__) && !defined(__clang__)
  constexpr bool single = std::is_same_v<T, float>;
#if defined(__AVX512F__)
  constexpr int current_rounding = 4;
  if constexpr (single) return __builtin_ia32_sqrtps512_mask(x, x, static_cast<short>(-1), current_rounding);
  else return __builtin_ia32_sqrtpd512_mask(x, x, static_cast<char>(-1), current_rounding);
#elif defined(__AVX__)
  if constexpr (single) return __builtin_ia32_sqrtps256(x);
  else return __builtin_ia32_sqrtpd256(x);
#else
  if constexpr (single) return __builtin_ia32_sqrtps(x);
  else return __builtin_ia32_sqrtpd(x);
#endif
#else
  for (int i = 0; i < pack<T>::part_lanes; ++i) x[i] = std::sqrt(x[i]);
  return x;
#endif
}

/// x rounded to a whole number. Numbers of 2^(digits-1) or more are whole, and adding that to a smaller one rounds it.
template <class T> PARALLAX_INLINE typename pack<T>::part_type round_part(typename pack<T>::part_type x) {
  using part_type = typename pack<T>::part_type;
  using bits = typename pack<T>::bits_type;
  const part_type limit = repeat<pack<T>>(T(1) / std::numeric_limits<T>::epsilon());
  const bits sign = bits(repeat<pack<T>>(T(-0.0)));
  part_type size = part_type(bits(x) & ~sign);
  part_type rounded = part_type(bits(size + limit - limit) | (bits(x) & sign));
  return choose(size < limit, rounded, x);
}
} // namespace detail

template <floating_element T> PARALLAX_INLINE pack<T> sqrt(const pack<T>& x) {
  if constexpr (floating16_element<T>) return detail::rounded<T>(sqrt(detail::widened(x)));
  else return detail::by_parts<pack<T>>([](auto part) { return detail::sqrt_part<T>(part); }, x);
}

template <floating_element T> PARALLAX_INLINE pack<T> floor(const pack<T>& x) {
  if constexpr (floating16_element<T>) return detail::rounded<T>(floor(detail::widened(x)));
  else
    return detail::by_parts<pack<T>>(
        [](auto part) {
          auto rounded = detail::round_part<T>(part);
          return detail::choose(rounded > part, rounded - detail::repeat<pack<T>>(T{1}), rounded);
        },
        x);
}

template <floating_element T> PARALLAX_INLINE pack<T> ceil(const pack<T>& x) { return neg(floor(neg(x))); }

/// `math::wide_remainder` of 32 bits, which takes half of y at a time: a double holds each number on the way, and its
/// rounding cannot reach the next whole quotient.
PARALLAX_INLINE pack<std::uint32_t> wide_remainder_of_lanes(const pack<std::uint32_t>& x, const pack<std::uint32_t>& y,
                                                            const pack<std::uint32_t>& divisor) {
  using word = pack<std::uint32_t>;
  const auto is_zero = eq(divisor, word(std::uint32_t{0}));
  const pack<double> by = convert<double>(select(is_zero, word(std::uint32_t{1}), divisor)), half(65536.);
  const auto left = [&](const pack<double>& z) { return sub(z, mul(by, floor(div(z, by)))); };
  const auto followed_by = [&](const pack<double>& rest, const word& digit) {
    return left(add(mul(rest, half), convert<double>(digit)));
  };
  pack<double> rest = left(convert<double>(x));
  rest = followed_by(rest, shift_right_logical(y, word(std::uint32_t{16})));
  rest = followed_by(rest, bit_and(y, word(std::uint32_t{0xFFFF})));
  return select(is_zero, y, convert<std::uint32_t>(rest));
}

} // namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS

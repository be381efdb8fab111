// The floating types of 16 bits: IEEE 754's binary16, and bfloat16, the upper half of a float.
#pragma once

#include <parallax/core/config.hpp>
#include <parallax/core/version.hpp>

#include <cstdint>
#include <limits>
#include <type_traits>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// 5 bits of exponent, 10 of the fraction.
struct binary16_format {
  static constexpr int digits = 11, min_exponent = -13, max_exponent = 16;
  static constexpr int decimal_digits = 3, least_decimal_exponent = -4, largest_decimal_exponent = 4;

  /// The nearest number, the even one of two equally near. NaN keeps its upper bits and becomes quiet.
  PARALLAX_HD static constexpr std::uint16_t narrow(float value) {
#ifdef __CUDA_ARCH__
    if (!__builtin_is_constant_evaluated()) {
      std::uint16_t result;
      asm("cvt.rn.f16.f32 %0, %1;" : "=h"(result) : "f"(value));
      return result;
    }
#endif
    const std::uint32_t bits = __builtin_bit_cast(std::uint32_t, value), size = bits & 0x7FFFFFFFU;
    std::uint32_t result = 0;
    if (size > 0x7F800000U) result = 0x7E00U | (size >> 13 & 0x3FFU);
    else if (size >= 0x477FF000U) result = 0x7C00U; // nearer to 2^16 than to the largest number
    else if (size >= 0x38800000U) result = (size - 0x38000000U + 0xFFFU + (size >> 13 & 1U)) >> 13;
    else // multiples of 2^-24, which is the last place of 0.5
      result = __builtin_bit_cast(std::uint32_t, __builtin_bit_cast(float, size) + 0.5f) - 0x3F000000U;
    return static_cast<std::uint16_t>(result | (bits >> 16 & 0x8000U));
  }
  PARALLAX_HD static constexpr float widen(std::uint16_t bits) {
#ifdef __CUDA_ARCH__
    if (!__builtin_is_constant_evaluated()) {
      float result;
      asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(bits));
      return result;
    }
#endif
    const std::uint32_t sign = (bits & 0x8000U) << 16, size = bits & 0x7FFFU;
    std::uint32_t result = 0;
    if (size > 0x7C00U) result = 0x7FC00000U | size << 13;
    else if (size == 0x7C00U) result = 0x7F800000U;
    else if (size >= 0x400U) result = (size << 13) + 0x38000000U;
    else result = __builtin_bit_cast(std::uint32_t, static_cast<float>(size) * 0x1p-24f);
    return __builtin_bit_cast(float, result | sign);
  }
};

/// 8 bits of exponent, 7 of the fraction.
struct bfloat16_format {
  static constexpr int digits = 8, min_exponent = -125, max_exponent = 128;
  static constexpr int decimal_digits = 2, least_decimal_exponent = -37, largest_decimal_exponent = 38;

  PARALLAX_HD static constexpr std::uint16_t narrow(float value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    if (!__builtin_is_constant_evaluated()) {
      std::uint16_t result;
      asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(result) : "f"(value));
      return result;
    }
#endif
    const std::uint32_t bits = __builtin_bit_cast(std::uint32_t, value);
    if ((bits & 0x7FFFFFFFU) > 0x7F800000U) return static_cast<std::uint16_t>(bits >> 16 | 0x40U);
    return static_cast<std::uint16_t>((bits + 0x7FFFU + (bits >> 16 & 1U)) >> 16);
  }
  PARALLAX_HD static constexpr float widen(std::uint16_t bits) {
    return __builtin_bit_cast(float, static_cast<std::uint32_t>(bits) << 16);
  }
};

/// A floating number of 16 bits. Each operation converts to float, computes there and rounds to the nearest number, the
/// even one of two equally near. Beside a float or an integer it is converted to float.
template <class Format> class small_float {
 public:
  small_float() = default;
  /// The nearest number to `value`, or to the float that is the nearest to it.
  template <class U>
    requires std::is_arithmetic_v<U>
  PARALLAX_HD constexpr explicit small_float(U value) : pattern(Format::narrow(static_cast<float>(value))) {}

  template <class Other>
  PARALLAX_HD constexpr explicit small_float(small_float<Other> value) : small_float(float{value}) {}

  PARALLAX_HD static constexpr small_float from_bits(std::uint16_t bits) {
    small_float result{};
    result.pattern = bits;
    return result;
  }
  PARALLAX_HD constexpr std::uint16_t bits() const { return pattern; }
  PARALLAX_HD constexpr operator float() const { return Format::widen(pattern); }

  friend PARALLAX_HD constexpr small_float operator+(small_float x) { return x; }
  friend PARALLAX_HD constexpr small_float operator-(small_float x) {
    return from_bits(static_cast<std::uint16_t>(x.pattern ^ 0x8000U));
  }
  friend PARALLAX_HD constexpr small_float operator+(small_float x, small_float y) {
    return small_float(float{x} + float{y});
  }
  friend PARALLAX_HD constexpr small_float operator-(small_float x, small_float y) {
    return small_float(float{x} - float{y});
  }
  friend PARALLAX_HD constexpr small_float operator*(small_float x, small_float y) {
    return small_float(float{x} * float{y});
  }
  friend PARALLAX_HD constexpr small_float operator/(small_float x, small_float y) {
    return small_float(float{x} / float{y});
  }
  PARALLAX_HD constexpr small_float& operator+=(float y) { return *this = small_float(float{*this} + y); }
  PARALLAX_HD constexpr small_float& operator-=(float y) { return *this = small_float(float{*this} - y); }
  PARALLAX_HD constexpr small_float& operator*=(float y) { return *this = small_float(float{*this} * y); }
  PARALLAX_HD constexpr small_float& operator/=(float y) { return *this = small_float(float{*this} / y); }
  // comparisons are those of floats, to which both sides convert

 private:
  std::uint16_t pattern;
};

} // namespace parallax::PARALLAX_INLINE_VERSION::detail

// NOLINTBEGIN(readability-identifier-naming): the names are the standard's
template <class Format> class std::numeric_limits<parallax::detail::small_float<Format>> {
  using number = parallax::detail::small_float<Format>;
  static constexpr std::uint16_t exponent_bits = 0x7FFFU >> (Format::digits - 1) << (Format::digits - 1);

 public:
  static constexpr bool is_specialized = true, is_signed = true, is_integer = false, is_exact = false;
  static constexpr bool has_infinity = true, has_quiet_NaN = true, has_signaling_NaN = true;
  static constexpr bool is_iec559 = true, is_bounded = true, is_modulo = false, traps = false, tinyness_before = false;
#if __cplusplus <= 202002L // what C++23 deprecates
  static constexpr std::float_denorm_style has_denorm = std::denorm_present;
  static constexpr bool has_denorm_loss = false;
#endif
  static constexpr std::float_round_style round_style = std::round_to_nearest;
  static constexpr int digits = Format::digits, radix = 2;
  static constexpr int digits10 = Format::decimal_digits, max_digits10 = Format::decimal_digits + 2;
  static constexpr int min_exponent = Format::min_exponent, max_exponent = Format::max_exponent;
  static constexpr int min_exponent10 = Format::least_decimal_exponent;
  static constexpr int max_exponent10 = Format::largest_decimal_exponent;

  static constexpr number min() noexcept { return number::from_bits(1U << (digits - 1)); }
  static constexpr number max() noexcept { return number::from_bits(exponent_bits - 1U); }
  static constexpr number lowest() noexcept { return -max(); }
  static constexpr number epsilon() noexcept { return number(2.0f / (1 << digits)); }
  static constexpr number round_error() noexcept { return number(0.5f); }
  static constexpr number infinity() noexcept { return number::from_bits(exponent_bits); }
  static constexpr number quiet_NaN() noexcept { return number::from_bits(exponent_bits | 1U << (digits - 2)); }
  static constexpr number signaling_NaN() noexcept { return number::from_bits(exponent_bits | 1U << (digits - 3)); }
  static constexpr number denorm_min() noexcept { return number::from_bits(1); }
};
// NOLINTEND(readability-identifier-naming)

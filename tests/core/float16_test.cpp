// The 16-bit floating types: every bit pattern, every boundary between two numbers, and their arithmetic.
#include <parallax/core/types/element_type.hpp>

#include "support/test.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

// cblas.h, which is precompiled with the tests, has a bfloat16 too
namespace parallax::float16_test {

namespace {

/// What the bits mean by definition: sign, exponent, fraction.
template <class T> double meaning(std::uint16_t bits) {
  constexpr int fraction_bits = std::numeric_limits<T>::digits - 1, exponent_bits = 15 - fraction_bits;
  constexpr int bias = (1 << (exponent_bits - 1)) - 1, largest = (1 << exponent_bits) - 1;
  const int exponent = bits >> fraction_bits & largest, fraction = bits & ((1 << fraction_bits) - 1);
  double size = exponent == largest ? (fraction == 0 ? std::numeric_limits<double>::infinity()
                                                     : std::numeric_limits<double>::quiet_NaN())
                : exponent == 0     ? std::ldexp(fraction, 1 - bias - fraction_bits)
                                    : std::ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits);
  return (bits & 0x8000) != 0 ? -size : size;
}

static_assert(float16(1.0f).bits() == 0x3C00 && float16(-2).bits() == 0xC000 && float16(65504.0f).bits() == 0x7BFF);
static_assert(float16(65519.0f).bits() == 0x7BFF && float16(65520.0f).bits() == 0x7C00);
static_assert(bfloat16(1.0f).bits() == 0x3F80 && bfloat16(3.0e38f) > 2.9e38f && bfloat16(3.4e38f).bits() == 0x7F80);
static_assert(float16(1) + float16(2) == 3.0f && float16(0.1f) * 2.0f != 0.2f);
static_assert(std::is_same_v<decltype(float16(1) + float16(1)), float16>);
static_assert(std::is_same_v<decltype(float16(1) + 1.0f), float> && std::is_same_v<decltype(1 + bfloat16(1)), float>);
static_assert(-float16(0.0f) == float16(0) && (-float16(0.0f)).bits() == 0x8000);
static_assert(std::numeric_limits<float16>::max() == 65504.0f && std::numeric_limits<float16>::min() == 0x1p-14f);
static_assert(std::numeric_limits<float16>::epsilon() == 0x1p-10f &&
              std::numeric_limits<bfloat16>::epsilon() == 0x1p-7f);
static_assert(std::numeric_limits<bfloat16>::min() == std::numeric_limits<float>::min());
static_assert(!(std::numeric_limits<float16>::quiet_NaN() == std::numeric_limits<float16>::quiet_NaN()));

} // namespace

TEMPLATE_TEST_CASE("every pattern of 16 bits is the float it means, and comes back", "[float16]", float16, bfloat16) {
  using T = TestType;
  for (unsigned pattern = 0; pattern < 0x10000; ++pattern) {
    const auto bits = static_cast<std::uint16_t>(pattern);
    const float value = T::from_bits(bits);
    const double expected = meaning<T>(bits);
    if (expected != expected) {
      REQUIRE(std::isnan(value));
      REQUIRE(std::isnan(static_cast<float>(T(value))));
      REQUIRE(std::signbit(static_cast<float>(T(value))) == std::signbit(value));
    } else {
      REQUIRE(static_cast<double>(value) == expected);
      REQUIRE(std::signbit(value) == ((bits & 0x8000) != 0));
      REQUIRE(T(value).bits() == bits);
    }
  }
}

TEMPLATE_TEST_CASE("floats between two numbers go to the nearest, from the middle to the even one", "[float16]",
                   float16, bfloat16) {
  using T = TestType;
  const std::uint16_t infinity = std::numeric_limits<T>::infinity().bits();
  for (std::uint16_t bits = 0; bits < infinity; ++bits) {
    const auto next = static_cast<std::uint16_t>(bits + 1);
    // beyond the largest number, as if the exponents went on
    const double low = meaning<T>(bits), high = next == infinity
                                                    ? 2 * low - meaning<T>(static_cast<std::uint16_t>(bits - 1))
                                                    : meaning<T>(next);
    const float middle = static_cast<float>((low + high) / 2);
    REQUIRE(static_cast<double>(middle) == (low + high) / 2); // a float has room for it
    for (float sign : {1.0f, -1.0f}) {
      const auto sign_bit = static_cast<std::uint16_t>(sign < 0 ? 0x8000 : 0);
      REQUIRE(T(sign * middle).bits() == ((bits % 2 == 0 ? bits : next) | sign_bit));
      REQUIRE(T(sign * std::nextafter(middle, 0.0f)).bits() == (bits | sign_bit));
      REQUIRE(T(sign * std::nextafter(middle, std::numeric_limits<float>::infinity())).bits() == (next | sign_bit));
    }
  }
  REQUIRE(T(std::numeric_limits<float>::infinity()).bits() == infinity);
  REQUIRE(T(std::numeric_limits<float>::denorm_min()).bits() == 0);
  REQUIRE(T(-std::numeric_limits<float>::denorm_min()).bits() == 0x8000);
}

TEMPLATE_TEST_CASE("arithmetic of 16 bits is that of real numbers, rounded once", "[float16]", float16, bfloat16) {
  using T = TestType;
  // a double holds sums and products of two numbers of like size, and enough of quotients to round them
  for (unsigned i = 0x0400; i < 0x7000; i += 173)
    for (unsigned j = i > 0x0800 ? i - 0x0800 : 0; j < i + 0x0800; j += 97) {
      const T x = T::from_bits(static_cast<std::uint16_t>(i)), y = T::from_bits(static_cast<std::uint16_t>(j));
      const double a = x, b = y;
      auto nearest = [](double exact) {
        // an odd last place stands for all that a float cuts off
        float cut = static_cast<float>(exact);
        if (std::isinf(cut)) return T(cut);
        if (std::abs(static_cast<double>(cut)) > std::abs(exact)) cut = std::nextafter(cut, 0.0f);
        if (static_cast<double>(cut) != exact) cut = std::bit_cast<float>(std::bit_cast<std::uint32_t>(cut) | 1U);
        return T(cut);
      };
      REQUIRE((x + y).bits() == nearest(a + b).bits());
      REQUIRE((x - y).bits() == nearest(a - b).bits());
      REQUIRE((x * y).bits() == nearest(a * b).bits());
      if (b != 0) REQUIRE((x / y).bits() == nearest(a / b).bits());
      REQUIRE((x < y) == (a < b));
      REQUIRE((x == y) == (a == b));
    }
  T sum(1);
  sum += T(2), sum *= 3.0f, sum -= T(1), sum /= T(2);
  CHECK(sum == 4.0f);
}

} // namespace parallax::float16_test

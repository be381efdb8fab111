#include <parallax/math/scalar_math.hpp>

#include "core/element_samples.hpp"
#include "core/ulp_error.hpp"
#include "support/test.hpp"

#include <array>
#include <bit>
#include <cmath>

namespace scalar_math_test {

namespace math = parallax::math;

namespace {

template <class T> constexpr T lowest = std::numeric_limits<T>::lowest();
template <class T> constexpr T largest = std::numeric_limits<T>::max();
template <class T> constexpr T infinity = std::numeric_limits<T>::infinity();
template <class T> constexpr T not_a_number = std::numeric_limits<T>::quiet_NaN();

} // namespace

TEMPLATE_TEST_CASE("integer arithmetic wraps", "[scalar_math]", std::uint8_t, std::int32_t, std::uint32_t, std::int64_t,
                   std::uint64_t) {
  using T = TestType;
  for (T x : element_samples<T>(20)) {
    T wrapped;
    __builtin_sub_overflow(T{0}, x, &wrapped);
    REQUIRE(math::neg(x) == wrapped);
    REQUIRE(math::abs(x) == (std::is_signed_v<T> && x < T{0} ? wrapped : x));
    REQUIRE(math::sign(x) == static_cast<T>(x == 0 ? 0 : std::is_signed_v<T> && x < T{0} ? -1 : 1));
    for (T y : element_samples<T>(20)) {
      __builtin_add_overflow(x, y, &wrapped);
      REQUIRE(math::add(x, y) == wrapped);
      __builtin_sub_overflow(x, y, &wrapped);
      REQUIRE(math::sub(x, y) == wrapped);
      __builtin_mul_overflow(x, y, &wrapped);
      REQUIRE(math::mul(x, y) == wrapped);
      REQUIRE(math::max(x, y) == std::max(x, y));
      REQUIRE(math::min(x, y) == std::min(x, y));
      if (y != 0 && !(std::is_signed_v<T> && y == static_cast<T>(-1))) {
        REQUIRE(math::div(x, y) == static_cast<T>(x / y));
        REQUIRE(math::rem(x, y) == static_cast<T>(x % y));
      }
    }
    REQUIRE(math::div(x, T{0}) == static_cast<T>(-1));
    REQUIRE(math::rem(x, T{0}) == x);
  }
}

TEST_CASE("the most negative integer divided by -1 stays", "[scalar_math]") {
  CHECK(math::div(lowest<std::int32_t>, -1) == lowest<std::int32_t>);
  CHECK(math::rem(lowest<std::int32_t>, -1) == 0);
  CHECK(math::div(lowest<std::int64_t>, std::int64_t{-1}) == lowest<std::int64_t>);
  CHECK(math::rem(lowest<std::int64_t>, std::int64_t{-1}) == 0);
  CHECK(math::div(std::int32_t{-7}, 2) == -3);
  CHECK(math::rem(std::int32_t{-7}, 2) == -1);
}

TEMPLATE_TEST_CASE("floating arithmetic", "[scalar_math]", float, double) {
  using T = TestType;
  CHECK(math::add(T(0.5), T(2)) == T(2.5));
  CHECK(math::sub(T(0.5), T(2)) == T(-1.5));
  CHECK(math::mul(T(0.5), T(3)) == T(1.5));
  CHECK(math::div(T(1), T(-0.0)) == -infinity<T>);
  CHECK(math::rem(T(-7.5), T(2)) == T(-1.5));
  CHECK(math::rem(T(7.5), T(-2)) == T(1.5));
  CHECK(std::isnan(math::rem(T(1), T(0))));
  CHECK(std::signbit(math::neg(T(0))));
  CHECK(!std::signbit(math::abs(T(-0.0))));
  CHECK(math::sign(T(-3)) == -1);
  CHECK(math::sign(infinity<T>) == 1);
  CHECK(math::sign(T(0)) == 0);
  CHECK(std::isnan(math::sign(not_a_number<T>)));
  CHECK(math::max(T(1), T(2)) == 2);
  CHECK(math::min(T(1), T(2)) == 1);
  for (T other : {T(1), infinity<T>, -infinity<T>}) {
    CHECK(std::isnan(math::max(not_a_number<T>, other)));
    CHECK(std::isnan(math::max(other, not_a_number<T>)));
    CHECK(std::isnan(math::min(not_a_number<T>, other)));
    CHECK(std::isnan(math::min(other, not_a_number<T>)));
  }
  CHECK(math::is_finite(largest<T>));
  CHECK(!math::is_finite(-infinity<T>));
  CHECK(!math::is_finite(not_a_number<T>));
  CHECK(math::floor(T(-0.5)) == -1);
  CHECK(math::ceil(T(0.5)) == 1);
}

TEST_CASE("booleans add by or and multiply by and", "[scalar_math]") {
  for (bool x : {false, true}) {
    CHECK(math::bit_not(x) == !x);
    for (bool y : {false, true}) {
      CHECK(math::add(x, y) == (x || y));
      CHECK(math::mul(x, y) == (x && y));
      CHECK(math::max(x, y) == (x || y));
      CHECK(math::min(x, y) == (x && y));
      CHECK(math::bit_and(x, y) == (x && y));
      CHECK(math::bit_or(x, y) == (x || y));
      CHECK(math::bit_xor(x, y) == (x != y));
      CHECK(math::lt(x, y) == (!x && y));
      CHECK(math::le(x, y) == (!x || y));
    }
  }
}

TEST_CASE("shifting by the width or more", "[scalar_math]") {
  CHECK(math::shift_left(std::int32_t{-1}, 31) == lowest<std::int32_t>);
  CHECK(math::shift_left(1, 32) == 0);
  CHECK(math::shift_left(1, -1) == 0);
  CHECK(math::shift_left(std::uint8_t{0x81}, std::uint8_t{1}) == 2);
  CHECK(math::shift_left(std::uint8_t{1}, std::uint8_t{8}) == 0);
  CHECK(math::shift_left(std::uint64_t{1}, std::uint64_t{1} << 32) == 0);
  CHECK(math::shift_right_logical(-1, 31) == 1);
  CHECK(math::shift_right_logical(-1, 32) == 0);
  CHECK(math::shift_right_arithmetic(-8, 1) == -4);
  CHECK(math::shift_right_arithmetic(-8, 32) == -1);
  CHECK(math::shift_right_arithmetic(8, -1) == 0);
  CHECK(math::shift_right_arithmetic(std::uint8_t{0x80}, std::uint8_t{1}) == 0xC0);
  CHECK(math::shift_right_arithmetic(std::uint32_t{1} << 31, std::uint32_t{40}) == largest<std::uint32_t>);
  CHECK(math::shift_right(-8, 1) == -4);
  CHECK(math::shift_right(std::uint8_t{0x80}, std::uint8_t{1}) == 0x40);
}

TEST_CASE("bits", "[scalar_math]") {
  CHECK(math::bit_not(std::uint8_t{0x0F}) == 0xF0);
  CHECK(math::bit_and(std::int64_t{-1}, std::int64_t{5}) == 5);
  CHECK(math::bit_or(8u, 1u) == 9u);
  CHECK(math::bit_xor(12, 10) == 6);
  CHECK(math::bit_cast<std::uint32_t>(-2.0f) == 0xC0000000u);
  CHECK(math::bit_cast<double>(std::int64_t{0x3FF0000000000000}) == 1.0);
}

TEMPLATE_TEST_CASE("converting floating numbers to integers saturates", "[scalar_math]", float, double) {
  using T = TestType;
  CHECK(math::convert<std::int32_t>(T(-1.9)) == -1);
  CHECK(math::convert<std::int32_t>(T(3e9)) == largest<std::int32_t>);
  CHECK(math::convert<std::int32_t>(-infinity<T>) == lowest<std::int32_t>);
  CHECK(math::convert<std::int32_t>(not_a_number<T>) == 0);
  CHECK(math::convert<std::uint8_t>(T(255.5)) == 255);
  CHECK(math::convert<std::uint8_t>(T(300)) == 255);
  CHECK(math::convert<std::uint8_t>(T(-0.5)) == 0);
  CHECK(math::convert<std::uint32_t>(T(-1)) == 0);
  CHECK(math::convert<std::uint32_t>(T(4294967296)) == largest<std::uint32_t>);
  CHECK(math::convert<std::int64_t>(T(9223372036854775808.0)) == largest<std::int64_t>);
  CHECK(math::convert<std::uint64_t>(infinity<T>) == largest<std::uint64_t>);
  CHECK(math::convert<bool>(not_a_number<T>));
  CHECK(!math::convert<bool>(T(-0.0)));
  CHECK(math::convert<T>(true) == T(1));
}

TEST_CASE("converting between integers wraps", "[scalar_math]") {
  CHECK(math::convert<std::uint8_t>(-1) == 255);
  CHECK(math::convert<std::int32_t>(std::uint64_t{0x180000000}) == lowest<std::int32_t>);
  CHECK(math::convert<std::int64_t>(-1) == -1);
  CHECK(math::convert<bool>(256));
}

TEMPLATE_TEST_CASE("converting 16 bits to their own type does nothing to them", "[scalar_math]", parallax::float16,
                   parallax::bfloat16) {
  int changed = 0; // float32 in between would make signalling NaN quiet
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const TestType x = TestType::from_bits(static_cast<std::uint16_t>(bits));
    changed += math::convert<TestType>(x).bits() != bits;
  }
  CHECK(changed == 0);
}

TEMPLATE_TEST_CASE("functions are those of the C library", "[scalar_math]", float, double) {
  using T = TestType;
  for (T x : {T(-1.75), T(-0.5), T(0), T(0.3), T(1), T(2.5)}) {
    CHECK(math::exp(x) == std::exp(x));
    CHECK(math::expm1(x) == std::expm1(x));
    CHECK(math::log(math::abs(x)) == std::log(std::abs(x)));
    CHECK(math::tanh(x) == std::tanh(x));
    CHECK(math::sin(x) == std::sin(x));
    CHECK(math::cos(x) == std::cos(x));
    CHECK(math::tan(x) == std::tan(x));
    CHECK(math::erf(x) == std::erf(x));
    CHECK(math::sqrt(math::abs(x)) == std::sqrt(std::abs(x)));
    CHECK(math::pow(math::abs(x), T(1.5)) == std::pow(std::abs(x), T(1.5)));
    CHECK(ulp_error(math::rsqrt(math::abs(x)), 1 / std::sqrt(std::abs(static_cast<long double>(x)))) < 1.5);
  }
  CHECK(math::log1p(T(0.25)) == std::log1p(T(0.25)));
}

TEMPLATE_TEST_CASE("the logistic function is accurate on both sides", "[scalar_math]", float, double) {
  using T = TestType;
  for (T x = -110; x < 110; x += T(0.37))
    REQUIRE(ulp_error(math::logistic(x), 1 / (1 + std::exp(-static_cast<long double>(x)))) < 4);
  CHECK(math::logistic(-infinity<T>) == 0);
  CHECK(math::logistic(infinity<T>) == 1);
  CHECK(std::isnan(math::logistic(not_a_number<T>)));
}

TEST_CASE("integer powers", "[scalar_math]") {
  for (int n = 0; n <= 13; ++n) {
    std::int64_t expected = 1;
    for (int i = 0; i < n; ++i) expected *= 3;
    CHECK(math::integer_pow(std::int64_t{3}, n) == expected);
    CHECK(math::integer_pow(3.0, n) == static_cast<double>(expected));
    CHECK(math::integer_pow(2.0f, -n) == std::ldexp(1.0f, -n));
  }
  CHECK(math::integer_pow(not_a_number<float>, 0) == 1);
  CHECK(math::integer_pow(std::int32_t{10}, 10) == 1410065408); // wraps
  CHECK(math::integer_pow(1.0, std::numeric_limits<int>::min()) == 1);
}

TEST_CASE("threefry2x32 gives the published words", "[scalar_math]") {
  // known answers of JAX's random_test.py
  auto check = [](std::array<std::uint32_t, 4> in, std::array<std::uint32_t, 2> out) {
    auto [first, second] = math::threefry2x32(in[0], in[1], in[2], in[3]);
    CHECK(first == out[0]);
    CHECK(second == out[1]);
  };
  check({0, 0, 0, 0}, {0x6b200159, 0x99ba4efe});
  check({~0u, ~0u, ~0u, ~0u}, {0x1cb996fc, 0xbb002be7});
  check({0x13198a2e, 0x03707344, 0x243f6a88, 0x85a308d3}, {0xc4923a9c, 0x483df7a0});
}

TEMPLATE_TEST_CASE("the inverse error function inverts", "[scalar_math]", float, double) {
  using T = TestType;
  // erf is flat near 1, where the inverse's error shows magnified by its slope, sqrt(pi) / 2 * exp(y * y)
  for (T x = T(-0.999); x < T(0.9991); x += T(0.00123)) {
    long double y = static_cast<long double>(math::erf_inv(x));
    long double slope = 0.886226925452758013649L * std::exp(y * y);
    long double correction = (std::erf(y) - static_cast<long double>(x)) * slope;
    // 1 - x * x magnifies the rounding of x * x
    REQUIRE(ulp_error(math::erf_inv(x), y - correction) < 4 + 0.01 / (1 - static_cast<double>(math::abs(x))));
  }
  CHECK(math::erf_inv(T(0)) == 0);
  CHECK(math::erf_inv(T(1)) == infinity<T>);
  CHECK(math::erf_inv(T(-1)) == -infinity<T>);
  CHECK(std::isnan(math::erf_inv(T(1.5))));
  CHECK(std::isnan(math::erf_inv(not_a_number<T>)));
}

TEST_CASE("normal numbers are JAX's", "[scalar_math]") {
  // jax.random.normal(jax.random.key(0), (16,))
  constexpr float expected[] = {1.6226422f,  2.0252647f, -.43359444f, -.07861735f, .1760909f,  -.97208923f,
                                -.49529874f, .4943786f,  .6643493f,   -.9501635f,  2.1795304f, -1.9551506f,
                                .35857072f,  .15779513f, 1.2770847f,  1.5104648f};
  for (std::uint32_t i = 0; i < 16; ++i) {
    auto [first, second] = math::threefry2x32(0u, 0u, 0u, i);
    std::uint32_t bits = math::bit_xor(first, second);
    float unit = math::bit_cast<float>((bits >> 9) | 0x3F800000u) - 1.0f;
    float symmetric = std::max(-0.99999994f, unit * 2.0f - 0.99999994f);
    CHECK(ulp_error(1.41421356f * math::erf_inv(symmetric), static_cast<long double>(expected[i])) <= 3);
  }
}

static_assert(math::add(largest<std::int32_t>, 1) == lowest<std::int32_t>, "wrapping is a constant expression");
static_assert(math::convert<std::uint8_t>(1e9) == 255);

} // namespace scalar_math_test

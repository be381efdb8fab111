// Quotients by a row's number are those of a division, to the last bit.
#include <parallax/cuda/kernels/loop/uniform_division.hpp>

#include "support/test.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

namespace uniform_division_test {

namespace plx = parallax;

namespace {

float quotient(float x, float divisor) { return plx::cuda::divided(x, divisor, plx::cuda::reciprocal_of(divisor)); }

bool is_right(float x, float divisor) {
  const float found = quotient(x, divisor), expected = x / divisor;
  if (std::isnan(expected)) return std::isnan(found);
  return std::bit_cast<std::uint32_t>(found) == std::bit_cast<std::uint32_t>(expected);
}

/// The odd number whose product with `x`, which is odd, ends in 32 bits of 1.
std::uint32_t inverse(std::uint32_t x) {
  std::uint32_t result = x;
  for (int i = 0; i < 5; ++i) result *= 2 - x * result;
  return result;
}

} // namespace

// A quotient of significands a / b lies c / 2b units in the last place from the middle m between two numbers, where
// 2^k a = m b + c with k = 24, or 25 where a < b. Errors before the last rounding are below 8 * 2^-24 units, so that it
// can only be wrong for |c| <= 8; of these m is the solution of m b = -c modulo 2^k.
TEST_CASE("quotients that lie closest to the middle between two numbers are rounded right") {
  std::int64_t pairs = 0, wrong = 0;
  for (std::uint32_t b = (1U << 23) + 1; b < 1U << 24; b += 6)
    for (std::int64_t c = -8; c <= 8; ++c)
      for (int k = 24; k <= 25; ++k) {
        const std::uint64_t m = (static_cast<std::uint64_t>(-c) * inverse(b)) & ((std::uint64_t{1} << k) - 1);
        for (std::uint64_t middle = m; middle < 1U << 25; middle += std::uint64_t{1} << k) {
          if (middle < 1U << 24 || middle % 2 == 0) continue;
          const std::uint64_t a = (middle * b + static_cast<std::uint64_t>(c)) >> k;
          if (a < 1U << 23 || a >= 1U << 24) continue;
          ++pairs;
          wrong += !is_right(static_cast<float>(a), static_cast<float>(b));
        }
      }
  CHECK(pairs > 3'000'000);
  CHECK(wrong == 0);
}

TEST_CASE("quotients of all magnitudes") {
  std::mt19937 random(1);
  std::int64_t wrong = 0;
  for (int i = 0; i < 4'000'000; ++i)
    wrong += !is_right(std::bit_cast<float>(static_cast<std::uint32_t>(random())),
                       std::bit_cast<float>(static_cast<std::uint32_t>(random())));
  CHECK(wrong == 0);
  using limits = std::numeric_limits<float>;
  const float special[] = {0.f,
                           1.f,
                           3.f,
                           limits::infinity(),
                           limits::quiet_NaN(),
                           limits::max(),
                           limits::min(),
                           limits::denorm_min(),
                           0x1p-20f,
                           0x1.8p100f,
                           0x1.fffffep-100f,
                           0x1p-149f};
  for (float x : special)
    for (float y : special)
      for (float signs : {1.f, -1.f}) {
        CAPTURE(x, y);
        CHECK(is_right(signs * x, y));
        CHECK(is_right(x, signs * y));
      }
}

} // namespace uniform_division_test

// Packs of 16-bit floating types: every bit pattern in every operation that has one operand.
#include <parallax/host/simd/pack.hpp>
#include <parallax/math/scalar_math.hpp>

#include "support/test.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

// cblas.h, which is precompiled with the tests, has a bfloat16 too
namespace parallax::pack_float16_test {

using host::lanes;
using host::pack;

namespace {

/// Calls `f` with packs of all patterns, and the first pattern of each.
template <class T, class F> void for_all_patterns(F f) {
  for (unsigned first = 0; first < 0x10000; first += lanes) {
    T patterns[lanes];
    for (unsigned i = 0; i < lanes; ++i) patterns[i] = T::from_bits(static_cast<std::uint16_t>(first + i));
    f(patterns, host::load(patterns));
  }
}

template <class T> bool same(T x, T y) {
  const float a = x, b = y;
  return a != a || b != b ? a != a && b != b : x.bits() == y.bits();
}

/// Whether a function of packs is the nearest number to `exact`, or beside it where that lies close to a middle.
template <class T, class F, class G> void check_function(F of_pack, G exact) {
  int beside = 0;
  for_all_patterns<T>([&](const T* x, const pack<T>& p) {
    T results[lanes];
    host::store(results, of_pack(p));
    for (int i = 0; i < lanes; ++i) {
      const double value = exact(static_cast<double>(x[i]));
      const T nearest(value);
      if (same(results[i], nearest)) continue;
      ++beside;
      INFO(static_cast<float>(x[i]) << ": " << static_cast<float>(results[i]) << ", not " << value);
      REQUIRE(std::abs(results[i].bits() - nearest.bits()) == 1);
    }
  });
  CHECK(beside <= 12); // of 65536
}

} // namespace

TEMPLATE_TEST_CASE("every pattern passes through a pack", "[pack]", float16, bfloat16) {
  using T = TestType;
  for_all_patterns<T>([&](const T* x, const pack<T>& p) {
    T back[lanes];
    float wide[lanes];
    host::store(back, p);
    host::store(wide, math::convert<float>(p));
    for (int i = 0; i < lanes; ++i) {
      REQUIRE(same(back[i], x[i]));
      REQUIRE((wide[i] == static_cast<float>(x[i]) || (std::isnan(wide[i]) && std::isnan(static_cast<float>(x[i])))));
      REQUIRE(std::signbit(wide[i]) == std::signbit(static_cast<float>(x[i])));
    }
  });
}

TEMPLATE_TEST_CASE("packs of floats are rounded as one float is", "[pack]", float16, bfloat16) {
  using T = TestType;
  // all upper halves of floats, with lower halves around the middles between two numbers of either type
  for (std::uint32_t low : {0U, 1U, 0x0FFFU, 0x1000U, 0x1001U, 0x2FFFU, 0x3000U, 0x7FFFU, 0x8000U, 0x8001U, 0xFFFFU})
    for (std::uint32_t high = 0; high < 0x10000; high += lanes) {
      float values[lanes];
      T results[lanes];
      for (std::uint32_t i = 0; i < lanes; ++i) {
        const std::uint32_t bits = (high + i) << 16 | low;
        std::memcpy(values + i, &bits, sizeof bits);
      }
      host::store(results, math::convert<T>(host::load(values)));
      for (int i = 0; i < lanes; ++i) REQUIRE(same(results[i], T(values[i])));
    }
}

TEMPLATE_TEST_CASE("functions of 16-bit packs are rounded floats", "[pack]", float16, bfloat16) {
  using T = TestType;
  check_function<T>([](auto x) { return math::exp(x); }, [](double x) { return std::exp(x); });
  check_function<T>([](auto x) { return math::expm1(x); }, [](double x) { return std::expm1(x); });
  check_function<T>([](auto x) { return math::log(x); }, [](double x) { return std::log(x); });
  check_function<T>([](auto x) { return math::log1p(x); }, [](double x) { return std::log1p(x); });
  check_function<T>([](auto x) { return math::tanh(x); }, [](double x) { return std::tanh(x); });
  check_function<T>([](auto x) { return math::sin(x); }, [](double x) { return std::sin(x); });
  check_function<T>([](auto x) { return math::cos(x); }, [](double x) { return std::cos(x); });
  check_function<T>([](auto x) { return math::erf(x); }, [](double x) { return std::erf(x); });
  check_function<T>([](auto x) { return math::sqrt(x); }, [](double x) { return std::sqrt(x); });
  check_function<T>([](auto x) { return math::rsqrt(x); }, [](double x) { return 1 / std::sqrt(x); });
  check_function<T>([](auto x) { return math::logistic(x); }, [](double x) { return 1 / (1 + std::exp(-x)); });
  check_function<T>([](auto x) { return math::floor(x); }, [](double x) { return std::floor(x); });
  check_function<T>([](auto x) { return math::integer_pow(x, 3); }, [](double x) { return x * x * x; });
  check_function<T>([](auto x) { return math::pow(x, math::abs(x)); },
                    [](double x) { return std::pow(x, std::abs(x)); });
}

} // namespace parallax::pack_float16_test

#include <parallax/host/simd/pack.hpp>

#include "core/element_samples.hpp"
#include "core/ulp_error.hpp"
#include "support/test.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace vector_math_test {

namespace host = parallax::host;
namespace math = parallax::math;
using host::lanes;

namespace {

/// Arguments of all sizes and near the edges of the functions' domains.
template <class T> std::vector<T> arguments() {
  std::vector<T> result = element_samples<T>(0);
  std::mt19937_64 engine(3);
  for (int i = 0; i < 40000; ++i) {
    if constexpr (sizeof(T) == 4) result.push_back(std::bit_cast<T>(static_cast<std::uint32_t>(engine())));
    else result.push_back(std::bit_cast<T>(static_cast<std::uint64_t>(engine())));
  }
  // a signaling NaN is no argument: functions are free to treat it as they like
  for (T& x : result)
    if (std::isnan(x)) x = std::numeric_limits<T>::quiet_NaN();
  std::uniform_real_distribution<T> unit(-1, 1);
  for (T range : {T(1e-3), T(0.1), T(1), T(6), T(30), T(100), T(800), T(1e5)})
    for (int i = 0; i < 10000; ++i) result.push_back(range * unit(engine));
  for (int i = 0; i < 10000; ++i) result.push_back(1 + T(0.1) * unit(engine));
  // numbers near multiples of pi / 2, where sines and tangents lose most: each of the first ones, and some of all sizes
  std::uniform_real_distribution<double> exponent(0, sizeof(T) == 4 ? 30 : 60);
  for (int i = 0; i < 20000; ++i) {
    const long double count = i < 10000 ? i : std::floor(std::exp2(static_cast<long double>(exponent(engine))));
    const T next = static_cast<T>(count * 1.570796326794896619231321691639751442L);
    for (const T x : {std::nextafter(next, T(0)), next, std::nextafter(next, std::numeric_limits<T>::infinity())}) {
      result.push_back(x);
      result.push_back(-x);
    }
  }
  while (result.size() % lanes != 0) result.push_back(T{1});
  return result;
}

/// The largest error of `f` on packs against `reference`, in units in the last place.
template <class T, class F, class R> double worst_error(F f, R reference) {
  static const std::vector<T> all = arguments<T>();
  double worst = 0;
  T results[lanes];
  for (std::size_t i = 0; i < all.size(); i += lanes) {
    host::store(results, f(host::load(&all[i])));
    for (std::size_t k = 0; k < lanes; ++k) {
      double error = ulp_error(results[k], reference(static_cast<long double>(all[i + k])));
      if (error > worst) UNSCOPED_INFO("at " << all[i + k] << ": " << results[k]);
      worst = std::max(worst, error);
    }
  }
  return worst;
}

} // namespace

TEMPLATE_TEST_CASE("functions of packs are accurate to 2 units in the last place", "[vector_math]", float, double) {
  using T = TestType;
  CHECK(worst_error<T>([](auto x) { return math::exp(x); }, [](long double x) { return std::exp(x); }) <= 1.1);
  CHECK(worst_error<T>([](auto x) { return math::expm1(x); }, [](long double x) { return std::expm1(x); }) <= 2);
  CHECK(worst_error<T>([](auto x) { return math::log(x); }, [](long double x) { return std::log(x); }) <= 1);
  CHECK(worst_error<T>([](auto x) { return math::log1p(x); }, [](long double x) { return std::log1p(x); }) <= 1);
  CHECK(worst_error<T>([](auto x) { return math::tanh(x); }, [](long double x) { return std::tanh(x); }) <= 2);
  CHECK(worst_error<T>([](auto x) { return math::logistic(x); },
                       [](long double x) { return 1 / (1 + std::exp(-x)); }) <= 2);
  CHECK(worst_error<T>([](auto x) { return math::sin(x); }, [](long double x) { return std::sin(x); }) <= 2);
  CHECK(worst_error<T>([](auto x) { return math::cos(x); }, [](long double x) { return std::cos(x); }) <= 2);
  CHECK(worst_error<T>([](auto x) { return math::tan(x); }, [](long double x) { return std::tan(x); }) <= 2);
  CHECK(worst_error<T>([](auto x) { return math::erf(x); }, [](long double x) { return std::erf(x); }) <= 2);
}

TEMPLATE_TEST_CASE("odd functions keep the smallest numbers and the sign of zero", "[vector_math]", float, double) {
  using T = TestType;
  for (const T x : {T(0), T(-0.0), std::numeric_limits<T>::denorm_min(), -std::numeric_limits<T>::denorm_min()}) {
    T results[lanes];
    auto check = [&] { CHECK((results[0] == x && std::signbit(results[0]) == std::signbit(x))); };
    host::store(results, math::expm1(host::broadcast(x)));
    check();
    host::store(results, math::tanh(host::broadcast(x)));
    check();
    host::store(results, math::sin(host::broadcast(x)));
    check();
    host::store(results, math::tan(host::broadcast(x)));
    check();
  }
}

TEMPLATE_TEST_CASE("a function of single numbers is applied to each lane", "[vector_math]", float, double) {
  using T = TestType;
  auto cbrt = [](auto x) { return math::each_lane([](auto lane) { return std::cbrt(lane); }, x); };
  CHECK(worst_error<T>(cbrt, [](long double x) { return std::cbrt(x); }) <= 4);
  const parallax::float16 half(0.7f);
  parallax::float16 results[lanes];
  host::store(results, cbrt(host::broadcast(half)));
  CHECK(results[lanes - 1] == parallax::float16(std::cbrt(static_cast<float>(half))));
  CHECK(cbrt(half) == results[0]);
}

TEMPLATE_TEST_CASE("powers of packs are accurate to 1 unit in the last place", "[vector_math]", float, double) {
  using T = TestType;
  for (T power : {T(0), T(-0.5), T(2), T(3), T(-3), T(0.1), T(17.3), T(400), std::numeric_limits<T>::infinity()}) {
    auto f = [power](auto x) { return math::pow(x, decltype(x)(power)); };
    CHECK(worst_error<T>(f, [power](long double x) { return std::pow(x, static_cast<long double>(power)); }) <= 1);
  }
}

TEMPLATE_TEST_CASE("the inverse error function of packs is near that of elements", "[vector_math]", float, double) {
  using T = TestType;
  T results[lanes], step = 2 / T(40000 * lanes);
  for (T first = -1; first < 1; first += lanes * step) {
    auto x = math::add(host::broadcast(first), math::mul(host::lane_index<T>(), host::broadcast(step)));
    T arguments[lanes];
    host::store(arguments, x);
    host::store(results, math::erf_inv(x));
    for (int i = 0; i < lanes; ++i) {
      T expected = math::erf_inv(arguments[i]);
      REQUIRE(ulp_error(results[i], static_cast<long double>(expected)) <= 3);
    }
  }
}

TEMPLATE_TEST_CASE("a lane does not depend on the others", "[vector_math]", float, double) {
  using T = TestType;
  // among ordinary arguments, and among some for which a function has to take another way
  auto alone = [](auto f, T x, T others) {
    T filled[lanes], expected[lanes];
    host::store(expected, f(host::broadcast(x)));
    for (int i = 0; i < lanes; ++i) {
      std::fill_n(filled, lanes, others);
      filled[i] = x;
      host::store(filled, f(host::load(filled)));
      if (filled[i] != expected[i]) return false;
    }
    return true;
  };
  for (T x : {T(0.01), T(0.7), T(1.3), T(44)})
    for (T others : {T(0), T(0.3), T(1e30), std::numeric_limits<T>::infinity(), std::numeric_limits<T>::quiet_NaN()}) {
      CHECK(alone([](auto v) { return math::exp(v); }, x, others));
      CHECK(alone([](auto v) { return math::expm1(v); }, x, others));
      CHECK(alone([](auto v) { return math::log(v); }, x, others));
      CHECK(alone([](auto v) { return math::log1p(v); }, x, others));
      CHECK(alone([](auto v) { return math::tanh(v); }, x, others));
      CHECK(alone([](auto v) { return math::sin(v); }, x, others));
      CHECK(alone([](auto v) { return math::cos(v); }, x, others));
      CHECK(alone([](auto v) { return math::tan(v); }, x, others));
      CHECK(alone([](auto v) { return math::erf(v); }, x, others));
      CHECK(alone([](auto v) { return math::pow(v, v); }, x, others));
    }
}

TEST_CASE("normal numbers of packs are JAX's", "[vector_math]") {
  // jax.random.normal(jax.random.key(0), (16,))
  constexpr float expected[] = {1.6226422f,  2.0252647f, -.43359444f, -.07861735f, .1760909f,  -.97208923f,
                                -.49529874f, .4943786f,  .6643493f,   -.9501635f,  2.1795304f, -1.9551506f,
                                .35857072f,  .15779513f, 1.2770847f,  1.5104648f};
  const auto zero = host::broadcast(std::uint32_t{0});
  float results[lanes];
  for (std::uint32_t first = 0; first < 16; first += lanes) {
    auto counter = math::add(host::lane_index<std::uint32_t>(), host::broadcast(first));
    auto words = math::threefry2x32(zero, zero, zero, counter);
    auto bits = math::shift_right_logical(math::bit_xor(words.first, words.second), host::broadcast(9U));
    auto unit =
        math::sub(math::bit_cast<float>(math::bit_or(bits, host::broadcast(0x3F800000U))), host::broadcast(1.0f));
    const auto lowest = host::broadcast(-0.99999994f);
    auto symmetric = math::max(lowest, math::add(math::mul(unit, host::broadcast(2.0f)), lowest));
    host::store(results, math::mul(math::erf_inv(symmetric), host::broadcast(1.41421356f)));
    for (std::uint32_t i = 0; i < lanes; ++i)
      CHECK(ulp_error(results[i], static_cast<long double>(expected[first + i])) <= 3);
  }
}

} // namespace vector_math_test

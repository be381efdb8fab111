// Slopes that are small beside the function's value, or made of squares: beside the true ones.
#include "expected.hpp"

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

namespace slopes_test {

namespace {

using namespace conformance;

template <class T> plx::array<T, 1> array_of(const std::vector<double>& numbers) {
  auto x = plx::array<T, 1>::uninitialised({static_cast<std::int64_t>(numbers.size())});
  for (std::size_t i = 0; i < numbers.size(); ++i) x.mutable_data()[i] = T(numbers[i]);
  return x;
}
/// The derivative of `f` at numbers of T beside that of `slope`, which is given those numbers.
template <class T> void check_slope(auto f, auto slope, const std::vector<double>& numbers, double relative) {
  const auto x = array_of<T>(numbers);
  constexpr auto derivative = [](auto y) { return plx::vmap(plx::grad(decltype(f){}))(y); };
  const auto found = plx::jit(derivative)(x);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    const long double right = slope(static_cast<long double>(static_cast<double>(x(at))));
    const auto error = std::abs(static_cast<long double>(static_cast<double>(found(at))) - right);
    INFO("at " << numbers[i] << ": " << static_cast<double>(found(at)) << ", right " << static_cast<double>(right));
    CHECK(error <= static_cast<long double>(relative) * std::abs(right));
  }
}

constexpr auto expm1 = [](auto x) { return plx::expm1(x); };
constexpr auto erf = [](auto x) { return plx::erf(x); };
constexpr auto erf_inv = [](auto x) { return plx::erf_inv(x); };
constexpr auto bend_of_erf = [](auto x) { return plx::grad([](auto y) { return plx::erf(y); })(x); };
constexpr auto exact_gelu = [](auto x) { return x * (0.5 * (1. + plx::erf(x * std::numbers::sqrt2 * 0.5))); };

const long double two_over_sqrt_pi = 2 * std::numbers::inv_sqrtpi_v<long double>;

} // namespace

TEST_CASE("expm1: the slope is exp(x), where that is lost in the result too") {
  const auto slope = [](long double x) { return std::exp(x); };
  check_slope<float>(expm1, slope, {-80, -20, -16, -5, -1e-3, 0, 3, 20}, 2e-7);
  check_slope<double>(expm1, slope, {-700, -40, -5, 1e-9, 30}, 5e-16);
  check_slope<plx::bfloat16>(expm1, slope, {-20, -5, 0, 1}, 0x1p-8);
}

TEST_CASE("erf: the slope has all its digits where the square of x is large") {
  const auto slope = [](long double x) { return two_over_sqrt_pi * std::exp(-x * x); };
  check_slope<float>(erf, slope, {7.3f, 8.9f, -6.1f, 5.0001f, 0.3f, 0, 1e-30}, 5e-7);
  check_slope<double>(erf, slope, {7.3, 26.1, -20.7, 5.1, 0.3, 0}, 1e-15);
  check_slope<plx::float16>(erf, slope, {2.3, -1.7, 0}, 0x1p-9);
  const auto bend = [slope](long double x) { return -2 * x * slope(x); };
  check_slope<float>(bend_of_erf, bend, {7.3f, -8.9f, 0.3f}, 6e-7);
  check_slope<double>(bend_of_erf, bend, {20.7, -0.3}, 2e-15);
}

TEST_CASE("erf: the slope at infinities is 0, and NaN stays NaN") {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  constexpr auto derivative = [](auto y) { return plx::vmap(plx::grad(erf))(y); };
  const auto found = plx::jit(derivative)(array_of<float>({infinite, -infinite, 1e30, -3e38, NAN}));
  for (std::int64_t i = 0; i < 4; ++i) CHECK(found(i) == 0.f);
  CHECK(std::isnan(found(4)));
}

TEST_CASE("erf_inv: the slope near 1 and -1 is that at the result") {
  constexpr auto both = [](auto x) {
    constexpr auto slope = [](auto y) { return plx::grad(erf_inv)(y); };
    return std::pair{plx::erf_inv(x), plx::vmap(slope)(x)};
  };
  const auto [y, slopes] = plx::jit(both)(array_of<float>({0.5, 0.999, -0.99999, 0.9999999}));
  for (std::int64_t i = 0; i < y.size(); ++i) {
    const long double at = y(i);
    const double right = static_cast<double>(std::exp(at * at) / two_over_sqrt_pi);
    CHECK(std::abs(static_cast<double>(slopes(i)) - right) <= 5e-7 * right);
  }
}

TEST_CASE("a gelu made of erf has the slope of its second half") {
  const auto slope = [](long double x) {
    const long double normal = std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi_v<long double>);
    return (1 + std::erf(x / std::numbers::sqrt2_v<long double>)) / 2 + x * normal;
  };
  check_slope<double>(exact_gelu, slope, {2.5, 0.3, -0.2}, 1e-14);
  check_slope<float>(exact_gelu, slope, {9.7f, 2.5f, 0.3f}, 1e-6);
}

} // namespace slopes_test

// Rows of more elements than float16 has numbers up to: what is summed and counted there is so in float32.
#include "expected.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <vector>

namespace long_rows_16_bits_test {

namespace {

using namespace conformance;
using plx::float16;

constexpr std::int64_t many = 70'000;
constexpr double count = 70'000;

double turn(std::int64_t i) { return static_cast<double>(i % 5 - 2); }

/// -2, -1, 0, 1, 2 in turns.
template <class T> plx::array<T, 1> in_turns() {
  auto x = plx::array<T, 1>::uninitialised({many});
  for (std::int64_t i = 0; i < many; ++i) x.mutable_data()[i] = T(turn(i));
  return x;
}
double exponentials() {
  double sum = 0;
  for (int i = -2; i < 3; ++i) sum += std::exp(i) * static_cast<double>(many / 5);
  return sum;
}
constexpr auto equal = [](auto value) { return plx::full<float16>({many}, value); };

template <class T> void check_each(const plx::array<T, 1>& found, auto expected, double relative, double absolute = 0) {
  REQUIRE(found.size() == many);
  double worst = 0;
  for (std::int64_t i = 0; i < many; ++i) {
    const double right = expected(i), error = std::abs(static_cast<double>(found(i)) - right);
    worst = std::isfinite(error) ? std::max(worst, error - relative * std::abs(right)) : 1e9;
  }
  CHECK(worst <= absolute);
}

} // namespace

TEST_CASE("float16: logsumexp of more elements than 65504, with its gradient", "[long]") {
  constexpr auto f = [](auto x) { return plx::logsumexp(x); };
  const plx::array<float16, 1> zeros = equal(0.f);
  CHECK(static_cast<double>(plx::jit(f)(zeros).item()) == Approx(std::log(count)).epsilon(1e-3));
  check_each(plx::grad(f)(zeros), [](std::int64_t) { return 1. / count; }, 0, 0x1p-24);
  check_each(
      plx::grad(f)(in_turns<plx::bfloat16>()), [](std::int64_t i) { return std::exp(turn(i)) / exponentials(); },
      0x1p-8);
}

TEST_CASE("float16: logarithms of a softmax of a long row, with their gradient", "[long]") {
  constexpr auto f = [](auto x) { return x - plx::logsumexp(x); };
  constexpr auto by_rows = [](auto x) { return plx::sum(x - plx::logsumexp(x, 0, plx::keepdims)); };
  const double total = exponentials();
  const auto x = in_turns<float16>();
  check_each(plx::jit(f)(x), [total](std::int64_t i) { return turn(i) - std::log(total); }, 1e-3);
  constexpr auto of_sum = [](auto y) { return plx::sum(y - plx::logsumexp(y)); };
  const auto slope = [total](std::int64_t i) { return 1 - count * std::exp(turn(i)) / total; };
  check_each(plx::grad(of_sum)(x), slope, 2e-3, 2e-3);
  check_each(plx::grad(by_rows)(x), slope, 2e-3, 2e-3);
}

TEST_CASE("float16: softmax of a long row, with its gradient", "[long]") {
  constexpr auto f = [](auto x) { return plx::softmax(x); };
  const plx::array<float16, 1> ones = equal(1.f);
  check_each(plx::jit(f)(ones), [](std::int64_t) { return static_cast<double>(float16(1. / count)); }, 0);
  constexpr auto weighted = [](auto x, auto w) { return plx::sum(plx::softmax(x) * w); };
  // y (w - sum(y w)): of w in turns, whose mean is 0, times y = 1 / 70000
  check_each(
      plx::grad(weighted)(ones, in_turns<float16>()),
      [](std::int64_t i) { return static_cast<double>(float16(1. / count)) * turn(i); }, 1e-3, 0x1p-24);
}

TEST_CASE("float16: equal extremes share a gradient however many they are", "[long]") {
  constexpr auto largest = [](auto x) { return plx::max(x); };
  constexpr auto smallest = [](auto x) { return 1000.f * plx::min(x); };
  check_each(
      plx::grad(largest)(plx::array<float16, 1>(equal(3.f))), [](std::int64_t) { return 1. / count; }, 0, 0x1p-24);
  check_each(plx::grad(smallest)(plx::array<float16, 1>(equal(3.f))), [](std::int64_t) { return 1000. / count; }, 1e-3);
  // of a batch, each row by itself
  constexpr auto rows = [](auto x) { return plx::sum(plx::max(x, 1)); };
  const auto two = plx::grad(rows)(plx::array<float16, 2>(plx::full<float16>({2, many}, -1.f)));
  CHECK(static_cast<double>(two(1, many - 1)) == Approx(1. / count).epsilon(3e-3));
}

TEST_CASE("convert: the cotangent of what is rounded to 16 bits is not rounded on its way") {
  constexpr auto f = [](auto scale, auto x) { return plx::sum(plx::astype<float16>(scale) * x); };
  const plx::array<float, 0> scale(1.f);
  CHECK(plx::grad(f)(scale, plx::array<float16, 1>(equal(1.f))).item() == static_cast<float>(many));
  const plx::array<float16, 1> few{float16(1.f), float16(2.f)};
  constexpr auto along = [](auto s, auto x) {
    constexpr auto g = [](auto a, auto b) { return plx::sum(plx::astype<float16>(a) * b); };
    return plx::jvp(g, std::tuple{s, x}, std::tuple{s, 0.f * x}).second;
  };
  CHECK(static_cast<float>(plx::jit(along)(scale, few).item()) == 3.f);
}

} // namespace long_rows_16_bits_test

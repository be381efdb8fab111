// Sums of many numbers, each of which is small beside the sum: what is added one by one is lost in the sum's own type.
#include "expected.hpp"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace long_sums_test {

namespace {

using namespace conformance;
using plx::bfloat16;
using plx::float16;

/// Ones behind a first row, or before a last one, of 2^24: float32 has no number 2^24 + 1.
plx::array<float, 2> behind_large(std::int64_t rows, std::int64_t columns, bool reverse) {
  auto x = plx::array<float, 2>::filled({rows, columns}, 1.f);
  for (std::int64_t k = 0; k < columns; ++k) x.mutable_data()[(reverse ? rows - 1 : 0) * columns + k] = 0x1p24f;
  return x;
}
constexpr auto down = [](auto x) { return plx::cumsum(x, 0); };
constexpr auto up = [](auto x) { return plx::cumsum(x, 0, plx::in_reverse); };

void check_sums(const plx::array<float, 2>& sums, bool reverse) {
  const std::int64_t rows = sums.shape()[0], columns = sums.shape()[1];
  double worst = 0;
  for (std::int64_t k = 0; k < columns; ++k)
    for (std::int64_t j = 0; j < rows; ++j) {
      const std::int64_t place = reverse ? rows - 1 - j : j;
      worst = std::max(worst, std::abs(static_cast<double>(sums(place, k)) - (0x1p24 + static_cast<double>(j))));
    }
  CHECK(worst <= 64);
}

} // namespace

TEST_CASE("cumsum: small numbers behind a large one count along every axis") {
  for (std::int64_t columns : {1, 3, 1100}) {
    INFO(columns << " columns");
    check_sums(plx::jit(down)(behind_large(500, columns, false)), false);
    check_sums(plx::jit(up)(behind_large(500, columns, true)), true);
  }
  constexpr auto turned = [](auto x) { return plx::transpose(plx::cumsum(plx::transpose(x), 1)); };
  check_sums(plx::jit(turned)(behind_large(500, 3, false)), false);
}

TEST_CASE("cumsum: whole numbers are as they are in one piece") {
  for (std::int64_t rows : {1, 63, 64, 65, 130}) {
    auto x = plx::array<float, 2>::uninitialised({rows, 5});
    std::vector<float> expected(static_cast<std::size_t>(rows * 5)), sums(5);
    for (std::int64_t i = 0; i < rows * 5; ++i) {
      x.mutable_data()[i] = static_cast<float>(i % 7);
      expected[static_cast<std::size_t>(i)] = sums[static_cast<std::size_t>(i % 5)] += static_cast<float>(i % 7);
    }
    check_equal<float>(plx::jit(down)(x), {rows, 5}, expected);
  }
}

namespace {

template <class T> plx::array<T, 1> equal(std::int64_t count, float value) {
  auto x = plx::array<T, 1>::uninitialised({count});
  for (std::int64_t i = 0; i < count; ++i) x.mutable_data()[i] = T(value);
  return x;
}
plx::array<std::int32_t, 1> places(std::int64_t count, std::int32_t of) {
  auto x = plx::array<std::int32_t, 1>::uninitialised({count});
  for (std::int64_t i = 0; i < count; ++i) x.mutable_data()[i] = static_cast<std::int32_t>(i) % of;
  return x;
}
template <class T> double number(const T& x) { return static_cast<double>(x); }

} // namespace

TEMPLATE_TEST_CASE("scatter: updates of 16 bits that meet are added in float32", "", float16, bfloat16) {
  using T = TestType;
  constexpr auto by_segment = [](auto x, auto i) { return plx::segment_sum(x, i, 2); };
  constexpr std::int64_t many = 6000;
  const auto sums = plx::jit(by_segment)(equal<T>(many, 1.f), places(many, 2));
  static_assert(std::same_as<typename std::remove_cvref_t<decltype(sums)>::value_type, T>);
  check_equal<T>(sums, {2}, {T(many / 2), T(many / 2)});

  constexpr auto added = [](auto x, auto i, auto y) { return x.at(i).add(y); };
  const auto x = plx::jit(added)(equal<T>(3, 8.f), places(3000, 3), equal<T>(3000, 1.f));
  check_equal<T>(x, {3}, {T(1008.f), T(1008.f), T(1008.f)});
  constexpr auto multiplied = [](auto a, auto i, auto y) { return a.at(i).multiply(y); };
  const auto product = plx::jit(multiplied)(equal<T>(1, 1.f), places(100, 1), equal<T>(100, 1.0625f));
  CHECK(number(product(0)) == Approx(std::pow(1.0625, 100)).epsilon(0x1p-8));

  // each instance of a batch changes its own
  constexpr auto batch = plx::vmap(added, plx::in_axes<plx::none, 0, plx::none>);
  plx::array<std::int32_t, 2> rows = plx::array<std::int32_t, 2>::filled({2, 3000}, 0);
  std::fill_n(rows.mutable_data() + 3000, 3000, 2);
  const auto each = batch(equal<T>(3, 0.f), rows, equal<T>(3000, 1.f));
  check_equal<T>(each, {2, 3}, {T(3000.f), T(0.f), T(0.f), T(0.f), T(0.f), T(3000.f)});
}

TEMPLATE_TEST_CASE("scatter: equal extremes of 16 bits are counted in float32", "", float16, bfloat16) {
  using T = TestType;
  constexpr std::int64_t many = 5000;
  constexpr auto largest = [](auto y, auto i) { return plx::sum(plx::zeros<T>({1}).at(i).max(y)); };
  const auto slope = plx::grad(largest)(equal<T>(many, 1.f), places(many, 1));
  CHECK(number(slope(0)) == Approx(1. / many).epsilon(0x1p-8));
  CHECK(number(slope(many - 1)) == Approx(1. / many).epsilon(0x1p-8));
}

namespace {

constexpr auto linear = [](auto w, auto xs) {
  return plx::scan([w](auto h, auto x) { return std::pair{h, w * x}; }, 0.f * xs[0], xs).second;
};
constexpr auto of_scan = [](auto w, auto xs) { return plx::sum(linear(w, xs)); };
/// Rows of 40: a loop in a loop.
constexpr auto of_two_scans = [](auto w, auto rows) {
  const auto row = [w](auto h, auto xs) { return std::pair{h, of_scan(w, xs)}; };
  return plx::sum(plx::scan(row, 0.f * rows[0][0], rows).second);
};

} // namespace

TEMPLATE_TEST_CASE("scan: the gradient of a value of 16 bits that a loop closes over is added in float32", "[long]",
                   float16, bfloat16) {
  using T = TestType;
  const plx::array<T, 0> w(T(2.f));
  const auto found = plx::grad(of_scan)(w, equal<T>(6000, 1.f));
  static_assert(std::same_as<typename std::remove_cvref_t<decltype(found)>::value_type, T>);
  CHECK(number(found.item()) == number(T(6000.f)));
  const auto nested = plx::grad(of_two_scans)(w, plx::array<T, 2>(plx::full<T>({150, 40}, 1.f)));
  CHECK(number(nested.item()) == number(T(6000.f)));
  // in a batch, and with a derivative of the slope
  constexpr auto batch = plx::vmap(plx::grad(of_scan), plx::in_axes<0, plx::none>);
  const auto each = batch(equal<T>(2, 3.f), equal<T>(6000, 1.f));
  check_equal<T>(each, {2}, {T(6000.f), T(6000.f)});
  constexpr auto squared = [](auto v, auto xs) { return plx::grad([xs](auto u) { return of_scan(u * u, xs); })(v); };
  const auto second = plx::grad(squared)(w, equal<T>(3000, 1.f));
  CHECK(number(second.item()) == number(T(6000.f)));
}

} // namespace long_sums_test

// Donated arguments that are read elsewhere, or after a result was written, are read as they were.
#include "donated.hpp"
#include "support/test.hpp"

#include <parallax/parallax.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

namespace donated_reads_test {

namespace plx = parallax;
using namespace donated;

TEST_CASE("results that read elsewhere in an argument are right") {
  using matrix = plx::array<float, 2>;
  const auto check = [](auto function, auto expected) {
    auto x = matrix::uninitialised({20, 20});
    std::iota(x.mutable_data(), x.mutable_data() + 400, 1.f);
    const matrix before = matrix({20, 20}, x.values());
    x = placed(x);
    const matrix y = function(x);
    for (std::int64_t r = 0; r < 20; ++r)
      for (std::int64_t c = 0; c < 20; ++c) REQUIRE(y(r, c) == expected(before, r, c));
    CHECK_THROWS_AS(x(0, 0), plx::error);
  };
  check(plx::jit([](auto x) { return plx::transpose(x) - x; }, plx::donate<0>),
        [](const matrix& x, auto r, auto c) { return x(c, r) - x(r, c); });
  check(plx::jit([](auto x) { return plx::transpose(x) * 2.f; }, plx::donate<0>),
        [](const matrix& x, auto r, auto c) { return 2 * x(c, r); });
  check(plx::jit([](auto x) { return x - plx::sum(x); }, plx::donate<0>),
        [](const matrix& x, auto r, auto c) { return x(r, c) - 200.f * 401; });
  check(plx::jit([](auto x) { return x * plx::sum(x, {0}, true); }, plx::donate<0>),
        [](const matrix& x, auto r, auto c) { return x(r, c) * (20 * x(0, c) + 20 * 190); });
  check(plx::jit([](auto x) { return plx::matmul(x, x) * 0.f + x; }, plx::donate<0>),
        [](const matrix& x, auto r, auto c) { return x(r, c); });
  check(plx::jit([](auto x) { return x; }, plx::donate<0>), [](const matrix& x, auto r, auto c) { return x(r, c); });
  check(plx::jit([](auto x) { return plx::cumsum(x, 1); }, plx::donate<0>), [](const matrix& x, auto r, auto c) {
    float sum = 0;
    for (std::int64_t k = 0; k <= c; ++k) sum += x(r, k);
    return sum;
  });
  check(plx::jit([](auto x) { return plx::fori_loop(0, 3, [&](auto, auto v) { return v + plx::transpose(x); }, x); },
                 plx::donate<0>),
        [](const matrix& x, auto r, auto c) { return x(r, c) + 3 * x(c, r); });
}

TEST_CASE("a transposed matrix lies elsewhere") {
  constexpr auto f = plx::jit([](auto x) { return plx::transpose(x) * 2.f; }, plx::donate<0>);
  auto x = plx::array<float, 2>::uninitialised({300, 300});
  std::iota(x.mutable_data(), x.mutable_data() + 90000, 1.f);
  x = placed(x);
  const auto y = f(x);
  for (std::int64_t i = 0; i < 90000; ++i) REQUIRE(y(i % 300, i / 300) == 2 * static_cast<float>(i + 1));
}

TEST_CASE("of several results, those take a donated argument that nothing reads it after") {
  constexpr auto several =
      plx::jit([](auto x) { return std::tuple(x + 1.f, plx::transpose(x), x * x, plx::sum(x)); }, plx::donate<0>);
  auto x = plx::array<float, 2>::uninitialised({30, 30});
  std::iota(x.mutable_data(), x.mutable_data() + 900, 1.f);
  x = placed(x);
  const auto [a, b, c, sum] = several(x);
  for (std::int64_t i = 0; i < 900; ++i) {
    const auto v = static_cast<float>(i + 1);
    REQUIRE(a(i / 30, i % 30) == v + 1);
    REQUIRE(b(i % 30, i / 30) == v);
    REQUIRE(c(i / 30, i % 30) == v * v);
  }
  CHECK(sum() == 450.f * 901);
  CHECK(memory_of(a) != memory_of(c));
  CHECK(memory_of(a) != memory_of(b));
}

TEST_CASE("a result that is stored before an argument is read does not take its memory") {
  constexpr auto two = plx::jit(
      [](auto x, auto y) {
        const auto twice = y * 2.f;
        return std::tuple(twice, x + plx::sqrt(twice));
      },
      plx::donate<0>);
  vector x = placed(counted(700));
  const auto [twice, sum] = two(x, plx::array<float, 1>::filled({700}, 8.f));
  CHECK(twice(699) == 16.f);
  for (std::int64_t i = 0; i < 700; ++i) REQUIRE(sum(i) == static_cast<float>(i + 1) + 4);
}

TEST_CASE("rows that are read once more after a part of them was stored") {
  constexpr auto weighted = plx::jit(
      [](auto x) {
        const auto parts = plx::exp(x - plx::max(x, {1}, true));
        return std::tuple(parts, parts / plx::sum(parts, {1}, true) + x);
      },
      plx::donate<0>);
  auto x = plx::array<float, 2>::uninitialised({5, 70});
  for (std::int64_t i = 0; i < x.size(); ++i) x.mutable_data()[i] = static_cast<float>(i * i % 13) / 4;
  const std::vector<float> before = x.to_vector();
  x = placed(x);
  const auto [parts, y] = weighted(x);
  for (std::size_t r = 0; r < 5; ++r) {
    double sum = 0;
    for (std::size_t c = 0; c < 70; ++c) sum += std::exp(static_cast<double>(before[r * 70 + c]) - 3);
    for (std::size_t c = 0; c < 70; ++c) {
      const double own = static_cast<double>(before[r * 70 + c]);
      REQUIRE(parts.data()[r * 70 + c] == Approx(std::exp(own - 3)).epsilon(1e-5));
      REQUIRE(y.data()[r * 70 + c] == Approx(std::exp(own - 3) / sum + own).epsilon(1e-5));
    }
  }
}

TEST_CASE("rows that are normalised where they lie") {
  constexpr auto normalised = plx::jit(
      [](auto x) {
        const auto mean = plx::mean(x, {1}, true);
        const auto centred = x - mean;
        return std::tuple(centred / plx::sqrt(plx::mean(centred * centred, {1}, true) + 1e-5f), centred);
      },
      plx::donate<0>);
  auto x = plx::array<float, 2>::uninitialised({7, 33});
  for (std::int64_t i = 0; i < x.size(); ++i) x.mutable_data()[i] = static_cast<float>(i * i % 19);
  const std::vector<float> before = x.to_vector();
  x = placed(x);
  const auto [y, centred] = normalised(x);
  for (std::size_t r = 0; r < 7; ++r) {
    double mean = 0, variance = 0;
    for (std::size_t c = 0; c < 33; ++c) mean += static_cast<double>(before[r * 33 + c]) / 33;
    for (std::size_t c = 0; c < 33; ++c) {
      const double from = static_cast<double>(before[r * 33 + c]) - mean;
      variance += from * from / 33;
    }
    for (std::size_t c = 0; c < 33; ++c) {
      const double from = static_cast<double>(before[r * 33 + c]) - mean;
      CHECK(centred.data()[r * 33 + c] == Approx(from).margin(1e-4));
      CHECK(y.data()[r * 33 + c] == Approx(from / std::sqrt(variance + 1e-5)).margin(1e-4));
    }
  }
}

TEST_CASE("an argument that several results are made of is left alone where one of them is written first") {
  const auto check = [](const auto& q, const auto& p) {
    for (std::int64_t i = 0; i < 1000; ++i) {
      const float a = static_cast<float>(i + 1), b = 2 * a;
      REQUIRE((q(i) == a + .5f * b && p(i) == b - .25f * a));
    }
  };
  static constexpr auto turned = [](auto q, auto p) { return std::pair{q + .5f * p, p - .25f * q}; };
  vector q = placed(counted(1000)), p = placed(counted(1000) * 2.f);
  const vector kept = counted(1000) * 2.f;
  const auto [q1, p1] = plx::jit(turned, plx::donate<0, 1>)(q, p);
  check(q1, p1);
  CHECK((is_used_up(q) && is_used_up(p)));
  q = placed(counted(1000));
  const auto [q2, p2] = plx::jit(turned, plx::donate<0>)(q, kept);
  check(q2, p2);
  CHECK((is_used_up(q) && kept(999) == 2000.f));
  state<vector> s{placed(counted(1000)), placed(counted(1000) * 2.f)};
  s = plx::jit(
      [](auto x) {
        const auto [a, b] = turned(x.weights, x.momentum);
        return state{a, b};
      },
      plx::donate<0>)(s);
  check(s.weights, s.momentum);
  plx::array<float, plx::extents<1000>> fixed(counted(1000));
  const auto [q3, p3] = plx::jit(turned, plx::donate<0>)(fixed, kept);
  check(q3, p3);
  // of three parts, and on devices
  constexpr auto three = [](auto x, auto y) { return std::tuple{x + y, x - y, y * 3.f}; };
  q = placed(counted(1000));
  const auto [sum, difference, times] = plx::jit(three, plx::donate<0>)(q, kept);
  CHECK((sum(999) == 3000.f && difference(999) == -1000.f && times(999) == 6000.f));
  constexpr auto mapped = plx::pmap(turned, plx::donate<0, 1>);
  auto rows = plx::array<float, 2>::uninitialised({4, 250}), others = rows;
  std::iota(rows.mutable_data(), rows.mutable_data() + 1000, 1.f);
  others = rows * 2.f;
  const auto [q4, p4] = mapped(rows, others);
  CHECK((q4(3, 249) == 2000.f && p4(3, 249) == 1750.f));
}

} // namespace donated_reads_test

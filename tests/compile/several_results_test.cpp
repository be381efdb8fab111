// Loops with several results: long programs are cut into them, and values that several consumers need come from one.
#include "compile/lowered.hpp"
#include "support/test.hpp"

#include <parallax/parallax.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace several_results_test {

namespace plx = parallax;

namespace {

/// A number with its derivative.
struct dual {
  double value, derivative;
  friend dual operator+(dual a, dual b) { return {a.value + b.value, a.derivative + b.derivative}; }
  friend dual operator-(dual a, dual b) { return {a.value - b.value, a.derivative - b.derivative}; }
  friend dual operator*(dual a, float b) {
    return {a.value * static_cast<double>(b), a.derivative * static_cast<double>(b)};
  }
};

dual squash(dual a) {
  double value = std::tanh(a.value);
  return {value, a.derivative * (1 - value * value)};
}
constexpr plx::tracer squash(plx::tracer a) { return plx::tanh(a); }

/// Two values that are woven into each other, `Steps` times three operations: both are needed at every cut.
template <int Steps>
constexpr auto weave = [](auto x, auto y) {
  auto a = x, b = y;
  for (int i = 0; i < Steps; ++i) {
    a = a + b;
    b = b - a * 0.5f;
    a = squash(a);
  }
  return std::pair{a, b};
};

float x_at(std::size_t i) { return 0.1f * static_cast<float>(i) - 1.7f; }
float y_at(std::size_t i) { return 0.9f - 0.05f * static_cast<float>(i); }

plx::array<float, 2> matrix(float (*at)(std::size_t)) {
  std::vector<float> values(5 * 7);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = at(i);
  return {std::array<std::int64_t, 2>{5, 7}, values};
}

/// The number of steps of a program's main section.
template <class Function, class... Trees> constexpr int step_count() {
  return plx::detail::program<Function, Trees...>::plan.section(plx::compiled::section_id::main).steps.count;
}
using abstract_matrix = plx::detail::abstract_array<float, plx::extents_t<-1, -1>>;

} // namespace

TEST_CASE("A long elementwise program is a few loops with several results") {
  static constexpr auto compiled = plx::jit(weave<60>);
  STATIC_REQUIRE(step_count<std::remove_const_t<decltype(compiled)>, abstract_matrix, abstract_matrix>() <= 6);
  auto [a, b] = compiled(matrix(x_at), matrix(y_at));
  for (std::size_t i = 0; i < 35; ++i) {
    auto expected = weave<60>(dual{x_at(i), 0}, dual{y_at(i), 0});
    CHECK(a.values()[i] == Approx(expected.first.value).margin(2e-4));
    CHECK(b.values()[i] == Approx(expected.second.value).margin(2e-4));
  }
}

TEST_CASE("So is its derivative, which reads what the forward loops kept") {
  static constexpr auto compiled = plx::jit(plx::grad([](auto x, auto y) {
    auto [a, b] = weave<40>(x, y);
    return plx::sum(a * b);
  }));
  auto slope = compiled(matrix(x_at), matrix(y_at));
  for (std::size_t i = 0; i < 35; ++i) {
    auto [a, b] = weave<40>(dual{x_at(i), 1}, dual{y_at(i), 0});
    CHECK(slope.values()[i] == Approx(a.derivative * b.value + a.value * b.derivative).margin(2e-3));
  }
}

TEST_CASE("Connected results of a program come from one loop") {
  static constexpr auto compiled = plx::jit([](auto x, auto y) {
    auto common = plx::exp(x) * y;
    return std::tuple{common, common + x, plx::tanh(common) * y};
  });
  STATIC_REQUIRE(step_count<std::remove_const_t<decltype(compiled)>, abstract_matrix, abstract_matrix>() == 1);
  auto [common, sum, product] = compiled(matrix(x_at), matrix(y_at));
  for (std::size_t i = 0; i < 35; ++i) {
    double x = x_at(i), y = y_at(i), expected = std::exp(x) * y;
    CHECK(common.values()[i] == Approx(expected));
    CHECK(sum.values()[i] == Approx(expected + x));
    CHECK(product.values()[i] == Approx(std::tanh(expected) * y));
  }
}

TEST_CASE("Values on both sides of a reduction are not computed in one loop") {
  static constexpr auto compiled = plx::jit([](auto x, auto y) {
    auto before = x * y;
    auto after = before - plx::sum(before, 1, plx::keepdims);
    auto transposed = plx::transpose(before * 2.f, {1, 0});
    return std::tuple{before + 1.f, after, after * before, plx::dot(transposed, after)};
  });
  auto [plus, after, product, dot] = compiled(matrix(x_at), matrix(y_at));
  double dot_expected[7][7] = {};
  for (std::size_t i = 0; i < 5; ++i) {
    double total = 0;
    for (std::size_t j = 0; j < 7; ++j)
      total += static_cast<double>(x_at(7 * i + j)) * static_cast<double>(y_at(7 * i + j));
    for (std::size_t j = 0; j < 7; ++j) {
      std::size_t k = 7 * i + j;
      double before = static_cast<double>(x_at(k)) * static_cast<double>(y_at(k));
      CHECK(plus.values()[k] == Approx(before + 1).margin(1e-5));
      CHECK(after.values()[k] == Approx(before - total).margin(1e-5));
      CHECK(product.values()[k] == Approx((before - total) * before).margin(1e-5));
      for (std::size_t l = 0; l < 7; ++l)
        dot_expected[l][j] +=
            2 * static_cast<double>(x_at(7 * i + l)) * static_cast<double>(y_at(7 * i + l)) * (before - total);
    }
  }
  for (std::size_t l = 0; l < 7; ++l)
    for (std::size_t j = 0; j < 7; ++j) CHECK(dot.values()[7 * l + j] == Approx(dot_expected[l][j]).margin(1e-4));
}

TEST_CASE("Loops that compute again what others do too are as long as others at most") {
  constexpr auto many = [](auto x) {
    auto sines = x, cosines = x;
    for (int k = 1; k <= 40; ++k) {
      auto cheap = plx::maximum(x * static_cast<float>(k), 0.5f);
      sines = sines + plx::sin(cheap);
      cosines = cosines + plx::cos(cheap);
    }
    return std::pair{plx::sum(sines * 1.5f, 0), plx::sum(cosines, 1)};
  };
  static constexpr auto longest = [](const auto& plan) {
    int most = 0;
    for (int k = 0; k < plan.template size<plx::compiled::kernel_record>(); ++k) {
      int operations = 0;
      for (const auto& s : plan[plan.template at<plx::compiled::kernel_record>(k).statements])
        operations += s.kind == plx::compiled::statement_kind::compute ? 1 : 0;
      most = operations > most ? operations : most;
    }
    return most;
  };
  STATIC_REQUIRE(longest(lowered::program(many, abstract_matrix{})) <= plx::detail::fusion::longest_kernel);
  auto [columns, rows] = plx::jit(many)(matrix(x_at));
  const auto expected_of = [&](double (*wave)(double), std::size_t count, auto place) {
    double expected = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const double x = static_cast<double>(x_at(place(i)));
      expected += x;
      for (int k = 1; k <= 40; ++k) expected += wave(x * k > 0.5 ? x * k : 0.5);
    }
    return expected;
  };
  for (std::size_t c = 0; c < 7; ++c) {
    const double expected = expected_of(std::sin, 5, [&](std::size_t r) { return 7 * r + c; });
    CHECK(columns.values()[c] == Approx(1.5 * expected).margin(1e-3));
  }
  for (std::size_t r = 0; r < 5; ++r) {
    const double expected = expected_of(std::cos, 7, [&](std::size_t c) { return 7 * r + c; });
    CHECK(rows.values()[r] == Approx(expected).margin(1e-3));
  }
}

} // namespace several_results_test

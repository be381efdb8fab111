// Calls of programs whose steps are compiled into them: small ones of static extents, which are written out number by
// number, and others. Both are compared with plain loops.
#include <parallax/parallax.hpp>

#include "host/direct_numbers.hpp"
#include "support/test.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

namespace direct_call_test {

namespace {

namespace plx = parallax;
using direct_numbers::is_near, direct_numbers::numbers;
using plx::array;
using plx::extents;

template <class F, class... T> using program_of = plx::detail::program<F, plx::detail::argument_t<T>...>;
template <class F, class... T> constexpr bool is_straight(F, const T&...) {
  return plx::host::direct_steps<program_of<F, T...>>::are_straight;
}
template <class F, class... T> constexpr bool is_direct(F, const T&...) {
  return plx::host::direct_steps<program_of<F, T...>>::are_direct;
}

/// What a function of numbers makes of each element.
template <class A, class F> std::vector<double> each(const A& x, F f) {
  std::vector<double> results;
  for (const auto& value : x.values()) results.push_back(f(static_cast<double>(value)));
  return results;
}

constexpr auto curve = [](auto x) { return plx::tanh(x) * 2.f + x / (x * x + 1.f); };
double curve_of(double x) { return std::tanh(x) * 2 + x / (x * x + 1); }

} // namespace

TEST_CASE("an elementwise function is right for scalars, small and large arrays, static and dynamic") {
  const array<float, 0> scalar(0.75f);
  const auto three = numbers<array<float, extents<3>>>({3});
  const auto many = numbers<array<float, extents<40, 10>>>({40, 10});
  const auto some = numbers<array<float, 2>>({5, 7});
  const auto line = numbers<array<float, 1>>({37});
  STATIC_REQUIRE(is_straight(plx::jit(curve), scalar));
  STATIC_REQUIRE(is_straight(plx::jit(curve), three));
  STATIC_REQUIRE_FALSE(is_straight(plx::jit(curve), many));
  STATIC_REQUIRE(is_direct(plx::jit(curve), some));
  CHECK(is_near(plx::jit(curve)(scalar), each(scalar, curve_of)));
  CHECK(is_near(plx::jit(curve)(three), each(three, curve_of)));
  CHECK(is_near(plx::jit(curve)(many), each(many, curve_of)));
  CHECK(is_near(plx::jit(curve)(some), each(some, curve_of)));
  CHECK(is_near(plx::jit(curve)(line), each(line, curve_of)));
  CHECK(is_near(plx::jit(curve)(0.5f), {curve_of(0.5)}));
  CHECK(plx::jit(curve)(array<float, 1>()).size() == 0);
}

TEST_CASE("element types keep their arithmetic where it is written out") {
  constexpr auto mixed = [](auto x) { return x * 3 - x; };
  const array<std::int32_t, extents<3>> whole{-7, 5, 9};
  const array<std::uint8_t, extents<2>> bytes{200, 3};
  const array<plx::float16, extents<3>> halves{1.5f, 2.f, 1000.f};
  const array<bool, extents<2>> flags{true, false};
  const array<double, extents<2>> doubles{0.1, -3};
  CHECK(plx::jit(mixed)(whole).to_vector() == std::vector<std::int32_t>{-14, 10, 18});
  CHECK(plx::jit(mixed)(bytes).to_vector() == std::vector<std::uint8_t>{400 - 256, 6});
  CHECK(is_near(plx::jit(mixed)(halves), {3, 4, 2000}));
  CHECK(is_near(plx::jit(mixed)(doubles), {0.2, -6}, 1e-15));
  constexpr auto choose = [](auto p, auto x) { return plx::where(p, x, -x); };
  CHECK(is_near(plx::jit(choose)(flags, doubles), {0.1, 3}));
  constexpr auto compare = [](auto x) { return x > 2; };
  CHECK(plx::jit(compare)(whole)(0) == false);
  CHECK(plx::jit(compare)(whole)(1) == true);
}

TEST_CASE("reductions of small arrays are right along each axis") {
  const auto x = numbers<array<double, extents<2, 3, 4>>>({2, 3, 4});
  auto at = [&](std::size_t i, std::size_t j, std::size_t k) { return x.values()[(i * 3 + j) * 4 + k]; };
  std::vector<double> first(12), middle(8), last(6), all(1);
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      for (std::size_t k = 0; k < 4; ++k) {
        const double value = at(i, j, k);
        first[j * 4 + k] += value;
        middle[i * 4 + k] = j == 0 ? value : std::max(middle[i * 4 + k], value);
        last[i * 3 + j] = k == 0 ? value : std::min(last[i * 3 + j], value);
        all[0] += value * value;
      }
  constexpr auto squares = [](auto v) { return plx::sum(v * v); };
  STATIC_REQUIRE(is_straight(plx::jit(squares), x));
  CHECK(is_near(plx::jit([](auto v) { return plx::sum(v, 0); })(x), first, 1e-14));
  CHECK(is_near(plx::jit([](auto v) { return plx::max(v, 1); })(x), middle, 0));
  CHECK(is_near(plx::jit([](auto v) { return plx::min(v, 2); })(x), last, 0));
  CHECK(is_near(plx::jit(squares)(x), all, 1e-14));
  const array<float, extents<4>> ties{1, 5, 5, -2};
  CHECK(plx::jit([](auto v) { return plx::argmax(v, 0); })(ties).item() == 1);
  CHECK(plx::jit([](auto v) { return plx::sum(v); })(array<float, extents<0>>()).item() == 0.f);
}

TEST_CASE("row sweeps of small arrays are right") {
  const auto x = numbers<array<double, extents<3, 5>>>({3, 5});
  std::vector<double> expected;
  for (std::size_t row = 0; row < 3; ++row) {
    double sum = 0;
    for (std::size_t i = 0; i < 5; ++i) sum += std::exp(x.values()[row * 5 + i]);
    for (std::size_t i = 0; i < 5; ++i) expected.push_back(std::exp(x.values()[row * 5 + i]) / sum);
  }
  constexpr auto softmax = [](auto v) { return plx::softmax(v, 1); };
  STATIC_REQUIRE(is_straight(plx::jit(softmax), x));
  CHECK(is_near(plx::jit(softmax)(x), expected, 1e-14));
  constexpr auto both = [](auto v) { return std::tuple{plx::logsumexp(v, 1), plx::mean(v, 1)}; };
  const auto [logs, means] = plx::jit(both)(x);
  for (std::size_t row = 0; row < 3; ++row) {
    double sum = 0, exponentials = 0;
    for (std::size_t i = 0; i < 5; ++i)
      sum += x.values()[row * 5 + i], exponentials += std::exp(x.values()[row * 5 + i]);
    CHECK(logs.values()[row] == Approx(std::log(exponentials)));
    CHECK(means.values()[row] == Approx(sum / 5));
  }
}

TEST_CASE("a gradient of several steps is right where it is written out") {
  constexpr auto loss = [](auto w, auto x) { return plx::sum(plx::square(plx::tanh(plx::dot(w, x)))); };
  const auto w = numbers<array<double, extents<3, 4>>>({3, 4}, 0.1);
  const auto x = numbers<array<double, extents<4>>>({4}, 0.2);
  STATIC_REQUIRE(is_straight(plx::jit(plx::grad(loss)), w, x));
  const auto gradient = plx::jit(plx::grad(loss))(w, x);
  auto value = [&](std::vector<double> weights) {
    double sum = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      double y = 0;
      for (std::size_t k = 0; k < 4; ++k) y += weights[i * 4 + k] * x.values()[k];
      sum += std::tanh(y) * std::tanh(y);
    }
    return sum;
  };
  for (std::size_t i = 0; i < 12; ++i) {
    std::vector<double> more = w.to_vector(), less = more;
    more[i] += 1e-6, less[i] -= 1e-6;
    CHECK(gradient.values()[i] == Approx((value(more) - value(less)) / 2e-6).margin(1e-8));
  }
}

TEST_CASE("arguments and results are trees, numbers and lists of extents") {
  constexpr auto f = [](auto pair, auto factor) {
    auto [a, b] = pair;
    return std::tuple{a * factor, std::array{a + b, a - b}, plx::arange<int>({3})};
  };
  const array<double, extents<2>> a{1, 2}, b{10, 20};
  const auto [scaled, both, counted] = plx::jit(f)(std::pair{a, b}, 3.0);
  CHECK(is_near(scaled, {3, 6}));
  CHECK(is_near(both[0], {11, 22}));
  CHECK(is_near(both[1], {-9, -18}));
  CHECK(is_near(counted, {0, 1, 2}));
  const array<float, 2> full = plx::full<float>({2, 3}, 1.5f);
  CHECK(is_near(full, std::vector<double>(6, 1.5)));
}

TEST_CASE("results may be equal, or arguments, and arguments unused") {
  constexpr auto several = [](auto x) {
    auto y = x + 1.f;
    return std::tuple{y, y, x, plx::reshape(x, {3, 1}), plx::sum(x)};
  };
  constexpr auto last = [](auto, auto, auto z) { return z * 2.f; };
  constexpr auto constant = [](auto) { return plx::ones({2}); };
  auto check = [&](const auto& x) {
    const auto [a, b, c, column, sum] = plx::jit(several)(x);
    CHECK(is_near(a, {2, 3, 4}));
    CHECK(is_near(b, {2, 3, 4}));
    CHECK(is_near(c, {1, 2, 3}));
    CHECK(is_near(column, {1, 2, 3}));
    CHECK(is_near(sum, {6}));
    CHECK(is_near(plx::jit(last)(1, x, x), {2, 4, 6}));
    CHECK(is_near(plx::jit(last)(x, x, 4.f), {8}));
    CHECK(is_near(plx::jit(constant)(x), {1, 1}));
  };
  check(array<float, extents<3>>{1, 2, 3});
  check(array<float, 1>{1, 2, 3});
}

TEST_CASE("a call whose extents do not fit says so") {
  constexpr auto sum = [](auto x, auto y) { return x + y; };
  const array<float, 1> three{1, 2, 3}, two{1, 2};
  CHECK_THROWS_WITH(plx::jit(sum)(three, two),
                    Catch::Matchers::StartsWith("add: shapes float32[3] and float32[2] do "
                                                "not agree: 3 (axis 0 of argument 0) is not 2 "
                                                "(axis 0 of argument 1)"));
  CHECK(is_near(plx::jit(sum)(three, three), {2, 4, 6}));
  constexpr auto product = [](auto x, auto y) { return plx::dot(x, y); };
  CHECK_THROWS_AS(plx::jit(product)(array<float, 2>{{1, 2}}, array<float, 2>{{1, 2}}), plx::shape_error);
}

TEST_CASE("small arrays of static extents hold their elements in place, and behave as others") {
  array<float, extents<4>> a{1, 2, 3, 4};
  const array<float, extents<4>> b = a;
  a.mutable_data()[0] = 9;
  CHECK(b(0) == 1.f);
  array<float, extents<4>> c = std::move(a);
  CHECK(c(0) == 9.f);
  const auto* const first = reinterpret_cast<const std::byte*>(c.data());
  CHECK((first >= reinterpret_cast<const std::byte*>(&c) && first < reinterpret_cast<const std::byte*>(&c + 1)));
  const array<float, 1> dynamic = c;
  CHECK(dynamic.to_vector() == std::vector<float>{9, 2, 3, 4});
  array<float, extents<4>> shared = dynamic;
  CHECK(shared.data() == dynamic.data());
  shared.mutable_data()[1] = 7;
  CHECK(dynamic(1) == 2.f);
  CHECK(shared.to_vector() == std::vector<float>{9, 7, 3, 4});
}

} // namespace direct_call_test

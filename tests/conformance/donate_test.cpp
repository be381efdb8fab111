// Donated arguments: results in their memory, and what is left of them.
#include "donated.hpp"
#include "support/test.hpp"

#include <parallax/parallax.hpp>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace donate_test {

namespace {

namespace plx = parallax;
using namespace donated;

constexpr auto step = plx::jit(
    [](auto s, auto gradient) {
      const auto momentum = s.momentum * .5f + gradient;
      return state{s.weights - momentum * .1f, momentum};
    },
    plx::donate<0>);

} // namespace

TEST_CASE("results that are computed element by element lie where donated arguments lay") {
  constexpr auto twice = plx::jit([](auto x) { return x * 2.f; }, plx::donate<0>);
  vector x = placed(counted(1000));
  const void* const memory = memory_of(x);
  const vector y = twice(x);
  CHECK(memory_of(y) == memory);
  CHECK(y(999) == 2000.f);
  CHECK(is_used_up(x));
  x = counted(3); // which may be used again
  CHECK(twice(std::move(x))(2) == 6.f);
}

TEST_CASE("a training step holds its state once") {
  state<vector> s{placed(counted(5000)), placed(counted(5000))};
  std::vector<double> weights(5000), momentum(5000);
  std::iota(weights.begin(), weights.end(), 1.0);
  momentum = weights;
  const vector gradient = counted(5000);
  const std::vector<const void*> memory{memory_of(s.weights), memory_of(s.momentum)};
  for (int k = 0; k < 3; ++k) {
    s = step(s, gradient);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      momentum[i] = momentum[i] * .5 + static_cast<double>(i + 1);
      weights[i] -= momentum[i] * .1;
    }
    CHECK(std::vector<const void*>{memory_of(s.weights), memory_of(s.momentum)} == memory);
    CHECK(s.weights(1) == Approx(weights[1])); // which is read each time
  }
  for (std::size_t i = 0; i < weights.size(); ++i) {
    REQUIRE(s.weights.data()[i] == Approx(weights[i]).epsilon(1e-5));
    REQUIRE(s.momentum.data()[i] == Approx(momentum[i]).epsilon(1e-5));
  }
  CHECK(gradient(4999) == 5000.f);
}

TEST_CASE("what shares memory with a donated array keeps it") {
  constexpr auto twice = plx::jit([](auto x) { return x * 2.f; }, plx::donate<0>);
  vector x = placed(counted(100));
  const vector other = x;
  const vector y = twice(x);
  CHECK(memory_of(y) != memory_of(other));
  CHECK(other(99) == 100.f);
  CHECK(y(99) == 200.f);
  CHECK(is_used_up(x));
  // memory of others is not written
  std::vector<float> theirs(100, 3.f);
  vector borrowed = plx::borrow(theirs.data(), {100});
  CHECK(twice(borrowed)(0) == 6.f);
  CHECK(theirs[0] == 3.f);
}

TEST_CASE("a call that is refused leaves donated arguments as they were") {
  constexpr auto sum = plx::jit([](auto x, auto y) { return x + y; }, plx::donate<0>);
  vector x = counted(10);
  CHECK_THROWS_AS(sum(x, counted(11)), plx::shape_error);
  CHECK(x(9) == 10.f);
  CHECK(sum(x, counted(10))(9) == 20.f);
}

TEST_CASE("an array that is another argument too is not taken") {
  constexpr auto sums =
      plx::jit([](auto x, auto y) { return plx::cumsum(x, 0) + plx::cumsum(y * 2.f, 0); }, plx::donate<0>);
  constexpr auto crossed =
      plx::jit([](auto x, auto y) { return std::pair(x * 2.f, plx::cumsum(y, 0)); }, plx::donate<0>);
  vector x = placed(counted(400));
  CHECK(sums(x, x)(399) == 3 * 400.f * 401 / 2);
  x = placed(counted(400));
  const auto [twice, sum] = crossed(x, x);
  for (std::int64_t i = 0; i < 400; ++i) {
    REQUIRE(twice(i) == 2 * static_cast<float>(i + 1));
    REQUIRE(sum(i) == static_cast<float>((i + 1) * (i + 2) / 2));
  }
  constexpr auto mapped = plx::pmap<"i">([](auto a, auto b) { return a * 2.f + plx::cumsum(b, 0); }, plx::donate<0>);
  constexpr auto f = plx::pmap<"i">([](auto a) { return a * 1.f; });
  auto rows = f(plx::array<float, 2>::filled({4, 50}, 1.f));
  CHECK(mapped(rows, rows)(3, 49) == 52.f);
}

TEST_CASE("the same program gives another argument's memory away") {
  constexpr auto f = [](auto x, auto y) { return x * 2.f + y; };
  constexpr auto first = plx::jit(f, plx::donate<0>);
  constexpr auto second = plx::jit(f, plx::donate<1>);
  for (int k = 0; k < 4; ++k) {
    vector x = placed(counted(100)), y = placed(counted(100));
    CHECK(first(x, y)(99) == 300.f);
    CHECK(y(99) == 100.f);
    x = placed(counted(100));
    CHECK(second(x, y)(99) == 300.f);
    CHECK(x(99) == 100.f);
    CHECK(is_used_up(y));
  }
}

TEST_CASE("numbers and small arrays of static extents may be donated, and are copied") {
  constexpr auto sum = plx::jit([](auto x, auto y) { return x + y; }, plx::donate<0, 1>);
  plx::array<float, plx::extents<3>> x{1, 2, 3};
  float y = 1;
  CHECK(sum(x, y)(2) == 4.f);
}

TEST_CASE("inside another function donating has no effect") {
  static constexpr auto twice = plx::jit([](auto x) { return x * 2.f; }, plx::donate<0>);
  static constexpr auto outer = plx::jit([](auto x) { return twice(x) + x; });
  const vector x = counted(4);
  CHECK(outer(x)(3) == 12.f);
  CHECK(x(3) == 4.f);
  CHECK(plx::grad([](auto v) { return plx::sum(twice(v)); })(x)(0) == 2.f);
}

} // namespace donate_test

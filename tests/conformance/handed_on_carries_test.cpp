// Carries that loops hand on from one to another, which none of them copies, beside plain loops.
#include "expected.hpp"

#include <array>
#include <tuple>
#include <utility>

namespace handed_on_carries_test {

namespace {

using namespace conformance;
using vector = std::vector<double>;

// Three of which each takes the next one's place, two that swap, one that is computed, and what the first one was.
constexpr auto round = [](auto carry, auto x) {
  auto [a, b, c, p, q, s] = carry;
  auto next = 0.5 * a - 0.25 * b + c + x;
  return std::pair{std::tuple{b, c, next, q, p, s + a * x}, a};
};
constexpr auto looped = [](auto first, auto xs) { return plx::scan(round, first, xs); };
constexpr auto backwards = [](auto first, auto xs) { return plx::scan(round, first, xs, plx::in_reverse); };
// Of a count that the call may know: a recurrence of two steps back, and four in a circle.
constexpr auto counted_rounds = [](auto count, auto x, auto y, auto circle) {
  auto pair = plx::fori_loop(
      0, count, [](auto, auto both) { return std::pair{both.second, both.first - 0.5 * both.second}; },
      std::pair{x, y});
  auto turned = plx::fori_loop(
      0, count,
      [](auto, auto four) {
        auto [a, b, c, d] = four;
        return std::tuple{b, c, d, a};
      },
      circle);
  return std::pair{pair, turned};
};

// More of them than share places: one that is copied, in a chain of four and one of five, and in a circle of five.
constexpr auto long_chains = [](auto count, auto x) {
  auto four = plx::fori_loop(
      0, count,
      [](auto, auto carry) {
        auto [a, b, c, d] = carry;
        return std::tuple{b, c, d, a + 0.5 * d};
      },
      std::tuple{x, x + 1., x + 2., x + 3.});
  auto five = plx::fori_loop(
      0, count,
      [](auto, auto carry) {
        auto [a, b, c, d, e] = carry;
        return std::tuple{b, c, d, e, a - 0.5 * e};
      },
      std::tuple{x, x + 1., x + 2., x + 3., x + 4.});
  auto circle = plx::fori_loop(
      0, count,
      [](auto, auto carry) {
        auto [a, b, c, d, e] = carry;
        return std::tuple{b, c, d, e, a};
      },
      std::tuple{x, x + 1., x + 2., x + 3., x + 4.});
  return std::tuple{four, five, circle};
};

/// One element of each carry.
using numbers = std::array<double, 6>;
numbers go_round(numbers v, double x) {
  const auto [a, b, c, p, q, s] = v;
  return {b, c, 0.5 * a - 0.25 * b + c + x, q, p, s + a * x};
}

template <class Array> void check_loop(std::size_t size, const Array& like) {
  auto carry = [&](double scale) {
    Array made = like;
    for (std::size_t i = 0; i < size; ++i) made.mutable_data()[i] = scale * static_cast<double>(i % 7) - 1;
    return made;
  };
  const std::tuple first{carry(0.5), carry(-0.25), carry(1.), carry(2.), carry(-1.), carry(0.125)};
  for (std::int64_t rounds : {0, 1, 2, 3, 5, 13}) {
    INFO(rounds << " rounds of " << size);
    plx::array<double, 1> xs = plx::array<double, 1>::uninitialised({rounds});
    for (std::int64_t t = 0; t < rounds; ++t) xs.mutable_data()[t] = 0.5 - 0.125 * static_cast<double>(t);
    for (bool reverse : {false, true}) {
      std::array<vector, 6> last;
      vector stacked(static_cast<std::size_t>(rounds) * size);
      for (std::size_t i = 0; i < size; ++i) {
        const double k = static_cast<double>(i % 7);
        numbers v{0.5 * k - 1, -0.25 * k - 1, k - 1, 2 * k - 1, -k - 1, 0.125 * k - 1};
        for (std::int64_t t = 0; t < rounds; ++t) {
          const auto slice = static_cast<std::size_t>(reverse ? rounds - 1 - t : t);
          stacked[slice * size + i] = v[0];
          v = go_round(v, xs.data()[slice]);
        }
        for (std::size_t c = 0; c < 6; ++c) last[c].push_back(v[c]);
      }
      const auto [found, outputs] = reverse ? plx::jit(backwards)(first, xs) : plx::jit(looped)(first, xs);
      const auto extent = static_cast<std::int64_t>(size);
      std::size_t c = 0;
      std::apply([&](const auto&... each) { (check_close<double>(each, {extent}, last[c++], 1e-12, 1e-12), ...); },
                 found);
      check_close<double>(outputs, {rounds, extent}, stacked, 1e-12, 1e-12);
    }
  }
}

} // namespace

TEST_CASE("carries that take each other's places, of few and many elements") {
  check_loop(3, plx::array<double, plx::extents<3>>{0., 0., 0.});
  check_loop(1, plx::array<double, 1>({1}, vector(1)));
  check_loop(5000, plx::array<double, 1>({5000}, vector(5000)));
}

TEST_CASE("carries in a circle, and the last two of a recurrence, of a known count and one that the call knows") {
  const plx::array<double, 1> x{1., -2.}, y{0.5, 4.};
  const std::tuple circle{plx::array<double, 0>(1.), plx::array<double, 0>(2.), plx::array<double, 0>(3.),
                          plx::array<double, 0>(4.)};
  for (int count : {0, 1, 2, 3, 4, 5, 6, 7}) {
    INFO(count << " rounds");
    vector u{1, -2}, v{0.5, 4};
    for (int t = 0; t < count; ++t)
      for (std::size_t i = 0; i < 2; ++i) u[i] = std::exchange(v[i], u[i] - 0.5 * v[i]);
    const auto [pair, turned] = plx::jit(counted_rounds)(plx::count(count), x, y, circle);
    check_close<double>(pair.first, {2}, u, 1e-12);
    check_close<double>(pair.second, {2}, v, 1e-12);
    int number = count;
    std::apply([&](const auto&... each) { (check_close<double>(each, {}, {number++ % 4 + 1.}), ...); }, turned);
  }
}

TEST_CASE("more carries that take each other's places than share them") {
  const plx::array<double, 1> x{1., -2.};
  for (int count : {0, 1, 2, 3, 4, 5, 6, 7, 12, 13}) {
    INFO(count << " rounds");
    const auto [four, five, circle] = plx::jit(long_chains)(plx::count(count), x);
    auto check = [&](const auto& found, auto next) {
      std::array<vector, 5> last;
      for (std::size_t i = 0; i < 2; ++i) {
        std::array<double, 5> v{};
        for (std::size_t c = 0; c < 5; ++c) v[c] = x.data()[i] + static_cast<double>(c);
        for (int t = 0; t < count; ++t) v = next(v);
        for (std::size_t c = 0; c < 5; ++c) last[c].push_back(v[c]);
      }
      std::size_t c = 0;
      std::apply([&](const auto&... each) { (check_close<double>(each, {2}, last[c++], 1e-12), ...); }, found);
    };
    using state = std::array<double, 5>;
    check(four, [](const state& v) { return state{v[1], v[2], v[3], v[0] + 0.5 * v[3]}; });
    check(five, [](const state& v) { return state{v[1], v[2], v[3], v[4], v[0] - 0.5 * v[4]}; });
    check(circle, [](const state& v) { return state{v[1], v[2], v[3], v[4], v[0]}; });
  }
}

TEST_CASE("carries that are handed on: derivatives, batches and devices") {
  const plx::array<double, 1> xs{0.5, -0.25, 1., 2., -1.};
  // of the first carry's: rounds are linear in it
  static constexpr auto loss = [](auto a, auto others, auto slices) {
    auto [b, c, p, q, s] = others;
    auto [last, outputs] = plx::scan(round, std::tuple{a, b, c, p, q, s}, slices);
    auto [u, v, w, x, y, z] = last;
    return plx::sum(u + 2. * v - w + x * y + 3. * z) + plx::sum(outputs);
  };
  auto expected = [&](double a) {
    numbers v{a, 0.25, 2., -1., 0.75, 3.};
    double sum = 0;
    for (std::int64_t t = 0; t < 5; ++t) {
      sum += v[0];
      v = go_round(v, xs.data()[t]);
    }
    return sum + v[0] + 2 * v[1] - v[2] + v[3] * v[4] + 3 * v[5];
  };
  auto other = [](double value) { return plx::array<double, 0>(value); };
  const std::tuple others{other(0.25), other(2.), other(-1.), other(0.75), other(3.)};
  const double slope = expected(1) - expected(0);
  check_close<double>(plx::jit(loss)(other(0.5), others, xs), {}, {expected(0.5)}, 1e-12);
  check_close<double>(plx::grad(loss)(other(0.5), others, xs), {}, {slope}, 1e-12);
  const plx::array<double, 1> batch{0.5, -1., 2.};
  const vector values{expected(0.5), expected(-1), expected(2)}, slopes{slope, slope, slope};
  static constexpr auto axes = plx::in_axes<0, plx::none, plx::none>;
  check_close<double>(plx::vmap(loss, axes)(batch, others, xs), {3}, values, 1e-12);
  check_close<double>(plx::pmap(loss, axes)(batch, others, xs), {3}, values, 1e-12);
  check_close<double>(plx::vmap(plx::grad(loss), axes)(batch, others, xs), {3}, slopes, 1e-12);
  check_close<double>(plx::pmap(plx::grad(loss), axes)(batch, others, xs), {3}, slopes, 1e-12);
}

} // namespace handed_on_carries_test

// pmap in rounds of loops and in branches that are outside of any pmap, beside plain C++.
#include "expected.hpp"

#include <array>
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

namespace pmap_in_loops_test {

namespace {

using namespace conformance;
using vector = std::vector<double>;

// Each device takes a step of its own; what all of them add up to is for the next round.
constexpr auto step = [](auto x, auto total) {
  auto y = plx::sin(x) + 0.1 * total;
  return std::pair{y, plx::psum<"i">(y)};
};
constexpr auto steps = plx::pmap<"i">(step, plx::in_axes<0, plx::none>, plx::out_axes<0, plx::none>);
constexpr auto rounds = [](auto x, auto pushes) {
  auto round = [](auto carry, auto push) {
    auto [y, sum] = steps(carry.first + push, carry.second);
    return std::pair{std::pair{y, sum}, sum};
  };
  auto [last, sums] = plx::scan(round, std::pair{x, 0.}, pushes);
  return std::pair{last.first, sums};
};

vector sums_of(vector& x, const vector& pushes) {
  vector sums;
  double sum = 0;
  for (double push : pushes) {
    double next = 0;
    for (double& y : x) next += y = std::sin(y + push) + 0.1 * sum;
    sums.push_back(sum = next);
  }
  return sums;
}
double last_sum_of(vector x, const vector& pushes) { return sums_of(x, pushes).back(); }

const vector start{0.3, -0.7, 1.1, 2.}, pushes{0.25, -0.5, 0.125, 1., 0.5};

plx::array<double, 1> array_of(const vector& values) {
  return {{static_cast<std::int64_t>(values.size())}, vector(values)};
}

} // namespace

TEST_CASE("pmap in a scan: all devices go round together") {
  vector x = start;
  const vector sums = sums_of(x, pushes);
  const auto [last, stacked] = plx::jit(rounds)(array_of(start), array_of(pushes));
  check_close<double>(last, {4}, x, 1e-14);
  check_close<double>(stacked, {5}, sums, 1e-14);
}

TEST_CASE("pmap in a scan: gradients go back through the devices' rounds") {
  static constexpr auto last_sum = [](auto x, auto p) { return rounds(x, p).second[4]; };
  const auto by_both = plx::grad(last_sum, plx::argnums<0, 1>)(array_of(start), array_of(pushes));
  check_close<double>(std::get<0>(by_both), {4},
                      differences([](const vector& x) { return last_sum_of(x, pushes); }, start), 1e-7);
  check_close<double>(std::get<1>(by_both), {5},
                      differences([](const vector& p) { return last_sum_of(start, p); }, pushes), 1e-7);
}

TEST_CASE("pmap in a scan: a batch of them is a loop of single ones") {
  static constexpr auto sums_alone = [](auto x, auto p) { return rounds(x, p).second; };
  static constexpr auto batch = plx::vmap(sums_alone, plx::in_axes<0, plx::none>);
  const plx::array<double, 2> two({{0.3, -0.7, 1.1, 2.}, {1., 0.5, 0.25, -2.}});
  vector first = start, second{1., 0.5, 0.25, -2.}, expected = sums_of(first, pushes);
  for (double sum : sums_of(second, pushes)) expected.push_back(sum);
  check_close<double>(batch(two, array_of(pushes)), {2, 5}, expected, 1e-14);
}

TEST_CASE("pmap in fori_loop and while_loop: counts and predicates are the call's") {
  static constexpr auto doubled = plx::pmap([](auto x) { return 2. * x; });
  static constexpr auto counted = [](auto x, auto n) {
    return plx::fori_loop(0, n, [](auto, auto y) { return doubled(y); }, x);
  };
  check_close<double>(plx::jit(counted)(array_of({1, 2, 3}), plx::count(5)), {3}, {32, 64, 96});
  check_close<double>(plx::jit(counted)(array_of({1, 2, 3}), plx::count(0)), {3}, {1, 2, 3});
  static constexpr auto until = [](auto x) {
    return plx::while_loop([](auto y) { return plx::sum(y) < 100.; }, [](auto y) { return doubled(y); }, x);
  };
  check_close<double>(plx::jit(until)(array_of({1, 2, 3})), {3}, {32, 64, 96});
  check_close<double>(plx::jit(until)(array_of({50, 60, 70})), {3}, {50, 60, 70});
}

TEST_CASE("pmap in a branch, and in loops inside of loops beside what no device maps") {
  static constexpr auto squares = plx::pmap([](auto x) { return x * x; });
  static constexpr auto chosen = [](auto p, auto x) {
    return plx::cond(p, [](auto y) { return squares(y) + 1.; }, [](auto y) { return -y; }, x);
  };
  check_close<double>(plx::jit(chosen)(plx::array<bool, 0>(true), array_of({1, 2, 3})), {3}, {2, 5, 10});
  check_close<double>(plx::jit(chosen)(plx::array<bool, 0>(false), array_of({1, 2, 3})), {3}, {-1, -2, -3});

  static constexpr auto inner = [](auto, auto y) { return squares(y) * 0.5 + plx::cumsum(y) * 0.25; };
  static constexpr auto outer = [](auto, auto y) { return plx::fori_loop(0, 2, inner, y) + 0.5; };
  static constexpr auto nested = [](auto x) { return plx::sum(plx::fori_loop(0, 3, outer, x * 0.5)); };
  vector x{0.25, 0.5, -0.5};
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 2; ++j) {
      double sum = 0;
      for (double& y : x) {
        sum += y;
        y = y * y * 0.5 + sum * 0.25;
      }
    }
    for (double& y : x) y += 0.5;
  }
  check_close<double>(plx::jit(nested)(array_of({0.5, 1., -1.})), {}, {x[0] + x[1] + x[2]}, 1e-14);
}

TEST_CASE("pmap in a loop: pmaps inside of it, and other devices named") {
  static constexpr auto sums = plx::pmap<"i">([](auto row) {
    return plx::pmap<"j">([](auto x) { return x * 0.5 + plx::psum<"i">(x) * plx::psum<"j">(x); })(row);
  });
  static constexpr auto twice = [](auto x) { return plx::fori_loop(0, 2, [](auto, auto y) { return sums(y); }, x); };
  double x[2][3] = {{0.1, 0.2, 0.3}, {0.4, -0.5, 0.6}};
  for (int round = 0; round < 2; ++round) {
    double next[2][3];
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 3; ++j) next[i][j] = x[i][j] * 0.5 + (x[0][j] + x[1][j]) * (x[i][0] + x[i][1] + x[i][2]);
    std::swap(x, next);
  }
  check_close<double>(plx::jit(twice)(plx::array<double, 2>({{0.1, 0.2, 0.3}, {0.4, -0.5, 0.6}})), {2, 3},
                      {x[0][0], x[0][1], x[0][2], x[1][0], x[1][1], x[1][2]}, 1e-14);

  static constexpr auto named = plx::pmap([](auto y) { return y + 1.; }, plx::devices<3, 1>);
  static constexpr auto on_named = [](auto y) {
    return plx::fori_loop(0, 4, [](auto, auto z) { return named(z); }, y);
  };
  check_close<double>(plx::jit(on_named)(array_of({1, 2})), {2}, {5, 6});
  static constexpr auto squares = plx::pmap([](auto y) { return y * y; }, plx::devices<3, 1>);
  static constexpr auto sum = [](auto y) {
    return plx::sum(plx::fori_loop(0, 2, [](auto, auto z) { return squares(z); }, y)); // y^4
  };
  check_close<double>(plx::grad(sum)(array_of({1, 2})), {2}, {4, 32}, 1e-14);
}

} // namespace pmap_in_loops_test

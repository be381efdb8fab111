// while_loop, cond and switch_, and their batches and gradients, beside plain C++.
#include "expected.hpp"

#include <tuple>
#include <utility>

namespace branches_test {

namespace {

using namespace conformance;
using vector = std::vector<double>;

// Heron's square root: as many rounds as the number takes.
constexpr auto root = [](auto a) {
  return plx::while_loop([=](auto x) { return plx::abs(x * x - a) > 1e-9 * a; },
                         [=](auto x) { return 0.5 * (x + a / x); }, a);
};
double root_of(double a) {
  double x = a;
  while (std::abs(x * x - a) > 1e-9 * a) x = 0.5 * (x + a / x);
  return x;
}

constexpr auto piecewise = [](auto x) {
  return plx::cond(x > 0.5, [](auto y) { return plx::sin(y) * y; }, [](auto y) { return y * y; }, x);
};
double piecewise_of(double x) { return x > 0.5 ? std::sin(x) * x : x * x; }
double slope_of(double x) { return x > 0.5 ? std::sin(x) + x * std::cos(x) : 2 * x; }

plx::array<double, 1> steps(std::int64_t n, double size) {
  auto result = plx::array<double, 1>::uninitialised({n});
  for (std::int64_t i = 0; i < n; ++i) result.mutable_data()[i] = size * static_cast<double>(i + 1);
  return result;
}
vector mapped(const plx::array<double, 1>& x, double (*f)(double)) {
  vector result;
  for (double v : x.values()) result.push_back(f(v));
  return result;
}

} // namespace

TEST_CASE("while_loop: as many rounds as the values ask for, none among them") {
  for (double a : {1., 2., 1e6}) check_close<double>(plx::jit(root)(plx::array<double, 0>(a)), {}, {root_of(a)}, 1e-14);
  // a tree of carries that change places; the collatz sequence of 27 takes 111 steps
  static constexpr auto collatz = [](auto n) {
    auto [last, count] = plx::while_loop(
        [](auto carry) { return std::get<0>(carry) != 1.; },
        [](auto carry) {
          auto [value, steps_so_far] = carry;
          auto halved = 0.5 * value;
          return std::tuple{plx::where(plx::floor(halved) == halved, halved, 3. * value + 1.), steps_so_far + 1};
        },
        std::tuple{n, 0});
    return count;
  };
  check_equal<std::int32_t>(plx::jit(collatz)(plx::array<double, 0>(27)), {}, {111});
  check_equal<std::int32_t>(plx::jit(collatz)(plx::array<double, 0>(1)), {}, {0});
}

TEST_CASE("while_loop: under vmap and pmap each element takes its own number of rounds") {
  const auto numbers = steps(8, 3.5);
  const vector expected = mapped(numbers, root_of);
  check_close<double>(plx::jit(plx::vmap(root))(numbers), {8}, expected, 1e-14);
  check_close<double>(plx::pmap(root)(numbers), {8}, expected, 1e-14);
  // the predicate is the same for all, what a round makes of the carry is not
  static constexpr auto doubled = [](auto x) {
    return std::get<1>(plx::while_loop([](auto c) { return std::get<0>(c) < 3; },
                                       [](auto c) { return std::tuple{std::get<0>(c) + 1, std::get<1>(c) * 2.}; },
                                       std::tuple{0, x}));
  };
  vector eightfold;
  for (double v : numbers.values()) eightfold.push_back(8 * v);
  check_close<double>(plx::jit(plx::vmap(doubled))(numbers), {8}, eightfold);
}

TEST_CASE("while_loop: a collective in each round, where all devices go round alike") {
  // until the sum over the devices is beyond 100
  static constexpr auto instance = [](auto x) {
    return plx::while_loop([](auto v) { return plx::psum<"i">(v) < 100.; }, [](auto v) { return 1.5 * v; }, x);
  };
  const auto numbers = steps(4, 1);
  vector expected(numbers.values().begin(), numbers.values().end());
  double sum = 10;
  while (sum < 100) {
    for (double& v : expected) v *= 1.5;
    sum *= 1.5;
  }
  check_close<double>(plx::pmap<"i">(instance)(numbers), {4}, expected, 1e-12);
}

TEST_CASE("cond: one branch, its gradient, and both of them under vmap") {
  const auto numbers = steps(6, 0.2);
  const vector values = mapped(numbers, piecewise_of), slopes = mapped(numbers, slope_of);
  for (std::size_t i = 0; i < 6; ++i) {
    const plx::array<double, 0> x(numbers.values()[i]);
    check_close<double>(plx::jit(piecewise)(x), {}, {values[i]}, 1e-14);
    check_close<double>(plx::jit(plx::grad(piecewise))(x), {}, {slopes[i]}, 1e-14);
  }
  check_close<double>(plx::jit(plx::vmap(piecewise))(numbers), {6}, values, 1e-14);
  check_close<double>(plx::jit(plx::vmap(plx::grad(piecewise)))(numbers), {6}, slopes, 1e-14);
  check_close<double>(plx::pmap(piecewise)(numbers), {6}, values, 1e-14);
  check_close<double>(plx::pmap(plx::grad(piecewise))(numbers), {6}, slopes, 1e-14);
  static constexpr auto total = [](auto x) { return plx::sum(plx::pmap(piecewise)(x)); };
  check_close<double>(plx::grad(total)(numbers), {6}, slopes, 1e-14);
}

TEST_CASE("cond: a branch that is not taken makes no NaN of a batch's gradient") {
  // log has an infinite slope at 0, where its branch is not taken: neither for what is mapped nor for what is not
  static constexpr auto safe_log = [](auto v, auto scale) {
    return plx::cond(
        v > 0.f, [](auto u, auto s) { return plx::log(u * s); }, [](auto u, auto s) { return u * s; }, v, scale);
  };
  static constexpr auto total = [](auto v, auto scale) {
    return plx::sum(plx::vmap(safe_log, plx::in_axes<0, plx::none>)(v, scale));
  };
  const plx::array<float, 1> v{0, 2, 0, 0.5f};
  const auto [by_v, by_scale] = plx::jit(plx::grad(total, plx::argnums<0, 1>))(v, 3.f);
  check_close<float>(by_v, {4}, {3, 0.5, 3, 2}, 1e-6);
  check_close<float>(by_scale, {}, {2.0 / 3}, 1e-6);
  check_close<float>(plx::jit(plx::vmap(plx::grad(safe_log), plx::in_axes<0, plx::none>))(v, 3.f), {4}, {3, 0.5, 3, 2},
                     1e-6);
}

TEST_CASE("while_loop, cond and switch_ outside of any function") {
  const plx::array<float, 1> v{1, 2};
  const auto grown = plx::while_loop([](auto u) { return plx::sum(u) < 20.f; }, [](auto u) { return u * 2.f; }, v);
  check_close<float>(grown, {2}, {8, 16}, 0);
  auto twice = [](auto u) { return u * 2.f; };
  auto negative = [](auto u) { return -u; };
  check_close<float>(plx::cond(true, twice, negative, v), {2}, {2, 4}, 0);
  check_close<float>(plx::cond(false, twice, negative, v), {2}, {-1, -2}, 0);
  check_close<float>(plx::switch_(5, std::tuple{twice, negative}, v), {2}, {-1, -2}, 0);
}

TEST_CASE("cond: what branches close over, trees, and a predicate that is the same for a batch") {
  static constexpr auto scaled = [](auto flag, auto a, auto x) {
    auto [sum, both] = plx::cond(
        flag, [&](auto y) { return std::tuple{plx::sum(y * a), std::array{y, a}}; },
        [&](auto y) { return std::tuple{plx::sum(y), std::array{a, y}}; }, x);
    return std::tuple{sum, both[0], both[1]};
  };
  const auto a = counted<double>(3), x = steps(3, 2);
  for (bool flag : {true, false}) {
    auto [sum, first, second] = plx::jit(scaled)(plx::array<bool, 0>(flag), a, x);
    check_close<double>(sum, {}, {flag ? 16. : 12.});
    check_close<double>(first, {3}, flag ? vector{2, 4, 6} : vector{0, 1, 2});
    check_close<double>(second, {3}, flag ? vector{0, 1, 2} : vector{2, 4, 6});
    static constexpr auto sums = [](auto f, auto b, auto y) { return std::get<0>(scaled(f, b, y)); };
    const auto rows = counted<double>(2, 3);
    check_close<double>(
        plx::jit(plx::vmap(sums, plx::in_axes<plx::none, plx::none, 0>))(plx::array<bool, 0>(flag), a, rows), {2},
        flag ? vector{5, 14} : vector{3, 12});
    // by what it closes over as well
    auto [da, dx] = plx::jit(plx::grad(sums, plx::argnums<1, 2>))(plx::array<bool, 0>(flag), a, x);
    check_close<double>(da, {3}, flag ? vector{2, 4, 6} : vector{0, 0, 0});
    check_close<double>(dx, {3}, flag ? vector{0, 1, 2} : vector{1, 1, 1});
  }
}

TEST_CASE("switch_: numbers beyond the branches are clamped") {
  static constexpr auto powers = [](auto i, auto x) {
    return plx::switch_(
        i, std::tuple{[](auto y) { return y; }, [](auto y) { return y * y; }, [](auto y) { return y * y * y; }}, x);
  };
  const plx::array<double, 0> x(3.);
  for (int i = -2; i < 5; ++i) {
    const int power = i < 0 ? 1 : i > 2 ? 3 : i + 1;
    check_close<double>(plx::jit(powers)(plx::array<std::int32_t, 0>(i), x), {}, {std::pow(3., power)});
  }
  const auto indices = counted<std::int32_t>(3);
  check_close<double>(plx::jit(plx::vmap(powers))(indices, steps(3, 1)), {3}, {1, 4, 27});
  check_close<double>(plx::jit(plx::vmap(plx::grad(powers, plx::argnums<1>)))(indices, steps(3, 1)), {3}, {1, 4, 27});
}

TEST_CASE("switch_: numbers that an int32 does not have are clamped, too") {
  static constexpr auto chosen = [](auto i, auto x) {
    return plx::switch_(
        i, std::tuple{[](auto y) { return y; }, [](auto y) { return 2. * y; }, [](auto y) { return 3. * y; }}, x);
  };
  const plx::array<double, 0> x(1.);
  const auto check = [&]<class T>(T number, double expected) {
    check_close<double>(plx::jit(chosen)(plx::array<T, 0>(number), x), {}, {expected});
    check_close<double>(
        plx::array<double, 0>(plx::switch_(
            number, std::tuple{[](auto y) { return y; }, [](auto y) { return 2. * y; }, [](auto y) { return 3. * y; }},
            x)),
        {}, {expected});
  };
  check(std::int64_t{1} << 32, 3.);
  check(-(std::int64_t{1} << 32), 1.);
  check(std::int64_t{1}, 2.);
  check(~std::uint64_t{0}, 3.);
  check(std::uint64_t{1}, 2.);
  check(~std::uint32_t{0}, 3.);
}

TEST_CASE("loops and branches in one another") {
  // scan of cond of while: each slice is halved until it is below 1, or squared
  static constexpr auto program = [](auto xs) {
    auto round = [](auto sum, auto x) {
      auto y = plx::cond(
          x > 2.,
          [](auto v) { return plx::while_loop([](auto w) { return w >= 1.; }, [](auto w) { return 0.5 * w; }, v); },
          [](auto v) { return v * v; }, x);
      return std::pair{sum + y, y};
    };
    return plx::scan(round, 0., xs);
  };
  auto value = [](double x) {
    if (x <= 2) return x * x;
    while (x >= 1) x /= 2;
    return x;
  };
  const auto xs = steps(7, 0.75);
  vector expected;
  double sum = 0;
  for (double x : xs.values()) expected.push_back(value(x)), sum += value(x);
  auto [total, all] = plx::jit(program)(xs);
  check_close<double>(total, {}, {sum}, 1e-14);
  check_close<double>(all, {7}, expected, 1e-14);
  // and for the rows of a batch
  static constexpr auto totals = [](auto x) { return program(x).first; };
  const auto rows = counted<double>(2, 3);
  check_close<double>(plx::jit(plx::vmap(totals))(rows), {2},
                      {value(0) + value(1) + value(2), value(3) + value(4) + value(5)}, 1e-14);
  check_close<double>(plx::pmap(totals)(rows), {2}, {value(0) + value(1) + value(2), value(3) + value(4) + value(5)},
                      1e-14);
}

TEST_CASE("cond and while_loop: collectives where those that meet decide alike") {
  // all devices take the same branch
  static constexpr auto shared = [](auto x) {
    return plx::cond(
        plx::pmax<"i">(x) > 2.5, [](auto y) { return y * plx::psum<"i">(y); }, [](auto y) { return y; }, x);
  };
  const auto few = steps(3, 1), fewer = steps(2, 1);
  check_close<double>(plx::pmap<"i">(shared)(few), {3}, {6, 12, 18});
  check_close<double>(plx::pmap<"i">(shared)(fewer), {2}, {1, 2});
  static constexpr auto total = [](auto x) { return plx::sum(plx::pmap<"i">(shared)(x)); };
  check_close<double>(plx::jit(plx::grad(total))(few), {3}, {12, 12, 12}); // the square of the sum
  check_close<double>(plx::jit(plx::grad(total))(fewer), {2}, {1, 1});
  // each row of devices decides for itself, and only its own meet
  static constexpr auto row = [](auto limit, auto xs) {
    return plx::pmap<"j">([=](auto x) {
      return plx::while_loop([&](auto v) { return plx::psum<"j">(v) < limit; },
                             [](auto v) { return v + plx::psum<"j">(v); }, x);
    })(xs);
  };
  static constexpr auto gathered = [](auto flag, auto xs) {
    return plx::pmap<"j">([=](auto x) {
      return plx::cond(
          flag > 3., [](auto v) { return plx::all_gather<"j">(v); }, [](auto v) { return plx::broadcast_to(v, {4}); },
          x);
    })(xs);
  };
  const auto limits = steps(2, 50), values = steps(8, 1);
  const auto rows = plx::jit([](auto v) { return plx::reshape(v, {2, 4}); })(values);
  vector expected;
  for (std::size_t i = 0; i < 2; ++i) {
    vector own(values.values().begin() + static_cast<int>(4 * i),
               values.values().begin() + static_cast<int>(4 * i + 4));
    auto sum = [&] { return own[0] + own[1] + own[2] + own[3]; };
    while (sum() < limits.values()[i]) {
      const double all = sum();
      for (double& v : own) v += all;
    }
    for (double v : own) expected.push_back(v);
  }
  check_close<double>(plx::pmap<"i">(row)(limits, rows), {2, 4}, expected);
  vector broadcast;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 4; ++j)
      for (int k = 0; k < 4; ++k) broadcast.push_back(i == 0 ? j + 1 : 5 + k);
  check_close<double>(plx::pmap<"i">(gathered)(steps(2, 2.), rows), {2, 4, 4}, broadcast);
}

TEST_CASE("while_loop: a gradient that does not go through it") {
  static constexpr auto scaled = [](auto a) { return plx::stop_gradient(root(a)) * a; };
  check_close<double>(plx::jit(plx::grad(scaled))(plx::array<double, 0>(2)), {}, {root_of(2)}, 1e-14);
}

} // namespace branches_test

// fori_loop: its bounds, the numbers of its rounds, and counts that are arguments, with gradients and batches.
#include "expected.hpp"

#include <cmath>
#include <cstdint>
#include <tuple>
#include <utility>

namespace fori_loop_test {

using namespace conformance;

TEST_CASE("fori_loop: rounds are numbered from the lower bound on") {
  static constexpr auto digits = [](auto x) {
    return plx::fori_loop(3, 6, [](auto i, auto v) { return v * 10.f + plx::astype<float>(i); }, x);
  };
  check_close(plx::jit(digits)(plx::array<float, 0>(0.f)), {}, {345});
  // outside of any function, of a count that is known at the call
  for (int upper : {-1, 0, 4}) {
    auto factorial =
        plx::fori_loop(0, upper, [](auto i, auto v) { return v * (i + 1); }, plx::array<std::int32_t, 0>(1));
    check_equal<std::int32_t>(factorial, {}, {upper == 4 ? 24 : 1});
  }
  // with a gradient, and a count that is an argument
  static constexpr auto power = [](auto x, auto times) {
    auto of = [=](auto y) { return plx::fori_loop(0, times, [&](auto, auto v) { return v * y; }, plx::ones_like(y)); };
    return plx::grad(of)(x);
  };
  check_close<double>(plx::jit(power)(plx::array<double, 0>(1.5), plx::count(5)), {}, {5 * 1.5 * 1.5 * 1.5 * 1.5},
                      1e-12);
}

TEST_CASE("fori_loop: bounds that the call knows, of which the upper one may be below the lower one") {
  static constexpr auto from = [](auto x, auto first, auto last) {
    auto add = [](auto i, auto y) { return y + plx::astype<float>(i); };
    auto zero = 0.f * plx::sum(x);
    return std::pair{plx::fori_loop(first, last, add, zero), plx::fori_loop(2, x.shape(0), add, zero)};
  };
  for (int size : {0, 1, 2, 3, 5})
    for (int first : {0, 1, 4})
      for (int last : {0, 2, 7}) {
        double sum = 0, over_axis = 0;
        for (int i = first; i < last; ++i) sum += i;
        for (int i = 2; i < size; ++i) over_axis += i;
        const auto [given, of_shape] = plx::jit(from)(counted<float>(size), plx::count(first), plx::count(last));
        check_close(given, {}, {sum});
        check_close(of_shape, {}, {over_axis});
      }
}

TEST_CASE("fori_loop: bounds below zero, inside and outside of functions") {
  static constexpr auto add = [](auto i, auto v) { return v * 10. + plx::astype<double>(i); };
  static constexpr auto inside = [](auto x) { return plx::fori_loop(-3, 2, add, x); };
  check_close<double>(plx::jit(inside)(plx::array<double, 0>(0.)), {}, {-32099});
  check_close<double>(plx::array<double, 0>(plx::fori_loop(-3, 2, add, plx::array<double, 0>(0.))), {}, {-32099});
  check_close<double>(plx::jit([](auto x) { return plx::fori_loop(-5, -3, add, x); })(plx::array<double, 0>(0.)), {},
                      {-54});
  static constexpr auto to_count = [](auto x, plx::extent count) { return plx::fori_loop(-2, count, add, x); };
  check_close<double>(plx::jit(to_count)(plx::array<double, 0>(0.), plx::count(1)), {}, {-210});
  check_close<double>(plx::jit(plx::grad(to_count))(plx::array<double, 0>(0.), plx::count(1)), {}, {1000});
}

TEST_CASE("fori_loop: numbers of 64 bits, and bounds that 32 bits do not have") {
  static constexpr auto add = [](auto i, auto v) { return v + plx::astype<double>(i); };
  constexpr std::int64_t far = std::int64_t{1} << 31;
  const plx::array<double, 0> zero(0.);
  static constexpr auto around = [](auto x) { return plx::fori_loop<std::int64_t>(far - 1, far + 2, add, x); };
  check_close<double>(plx::jit(around)(zero), {}, {3. * static_cast<double>(far)}, 0);
  check_close<double>(plx::array<double, 0>(plx::fori_loop<std::int64_t>(2 * far, 2 * far + 2, add, zero)), {},
                      {4. * static_cast<double>(far) + 1}, 0);
  check_close<double>(plx::array<double, 0>(plx::fori_loop<std::int64_t>(-2 * far, 2 - 2 * far, add, zero)), {},
                      {1 - 4. * static_cast<double>(far)}, 0);
  check_close<double>(plx::array<double, 0>(plx::fori_loop(far - 3, far - 1, add, zero)), {},
                      {2. * static_cast<double>(far) - 5}, 0); // the last ones that there are
  CHECK_THROWS_MATCHES(plx::fori_loop(2 * far, 2 * far + 2, add, zero), plx::shape_error,
                       Catch::Message("fori_loop: the bound 4294967296 is no int32 number; "
                                      "fori_loop<std::int64_t> has numbers of 64 bits"));
  static constexpr auto to_count = [](auto x, plx::extent first, plx::extent last) {
    return plx::fori_loop(first, last, add, x);
  };
  CHECK_THROWS_MATCHES(plx::jit(to_count)(zero, plx::count(far), plx::count(far + 1)), plx::shape_error,
                       Catch::Message("fori_loop: 2147483648 (axis 0 of argument 1) is no int32 number; "
                                      "fori_loop<std::int64_t> has numbers of 64 bits"));
}

TEST_CASE("fori_loop: more rounds than have their numbers in memory", "[long]") {
  constexpr int many = 70'000;
  double sum = 0;
  for (int i = 0; i < many; ++i) sum += 1. / (1 + i % 7) * i;
  static constexpr auto body = [](auto i, auto v) {
    return v + plx::astype<double>(i) / plx::astype<double>(1 + i % 7);
  };
  const plx::array<double, 0> zero(0.);
  check_close<double>(plx::jit([](auto x) { return plx::fori_loop(0, many, body, x); })(zero), {}, {sum}, 1e-12);
  check_close<double>(plx::array<double, 0>(plx::fori_loop(0, many, body, zero)), {}, {sum}, 1e-12);
}

TEST_CASE("fori_loop: gradients of rounds that count themselves, batches and gradients of these") {
  const plx::array<double, 0> zero(0.);
  static constexpr auto weighted = [](auto x, plx::extent count) {
    return plx::fori_loop(0, count, [=](auto i, auto v) { return v + x * x * plx::astype<double>(i); }, 0. * x);
  };
  check_close<double>(plx::jit(plx::grad(weighted))(plx::array<double, 0>(3.), plx::count(5)), {}, {2 * 3. * 10});
  static constexpr auto summed = [](auto all, plx::extent count) {
    return plx::sum(plx::vmap([=](auto x) { return weighted(x, count); })(all));
  };
  check_close<double>(plx::jit(plx::grad(summed))(plx::array<double, 1>{1, 2}, plx::count(5)), {2}, {20, 40});
  // a round that stacks nothing, and loops in loops
  static constexpr auto nested = [](auto x, plx::extent count) {
    auto outer = [&](auto i, auto v) {
      return plx::fori_loop(0, count, [=](auto j, auto u) { return u + plx::astype<double>(i * 10 + j); }, v);
    };
    return plx::fori_loop(1, count, outer, x);
  };
  check_close<double>(plx::jit(nested)(zero, plx::count(3)), {}, {10 + 11 + 12 + 20 + 21 + 22});
  // trees, and carries of which one is handed on
  static constexpr auto fibonacci = [](auto x, plx::extent count) {
    auto round = [](auto i, auto pair) {
      return std::pair{pair.second, pair.first + pair.second + 0. * plx::astype<double>(i)};
    };
    return plx::fori_loop(0, count, round, std::pair{x, x + 1.}).first;
  };
  check_close<double>(plx::jit(fibonacci)(zero, plx::count(10)), {}, {55});
}

TEST_CASE("fori_loop and while_loop: a carry that stays, in gradients and batches, and rounds that change nothing") {
  // x y^3 and y^2
  static constexpr auto powers = [](auto x, auto y) {
    auto round = [](auto, auto both) { return std::pair{both.first * both.second, both.second}; };
    auto [product, same] = plx::fori_loop(0, 3, round, std::pair{x, y});
    return plx::sum(product) + plx::sum(same * same);
  };
  const plx::array<double, 1> x{1.5, -0.5}, y{0.8, 1.2};
  auto [by_x, by_y] = plx::grad(powers, plx::argnums<0, 1>)(x, y);
  check_close<double>(by_x, {2}, {std::pow(0.8, 3), std::pow(1.2, 3)}, 1e-14);
  check_close<double>(by_y, {2}, {3 * 1.5 * 0.64 + 1.6, -1.5 * 1.44 + 2.4}, 1e-14);
  auto batch =
      plx::vmap(plx::grad(powers, plx::argnums<0, 1>), plx::in_axes<plx::none, 0>)(plx::array<double, 0>(1.5), y);
  check_close<double>(std::get<0>(batch), {2}, {std::pow(0.8, 3), std::pow(1.2, 3)}, 1e-14);
  check_close<double>(std::get<1>(batch), {2}, {3 * 1.5 * 0.64 + 1.6, 4.5 * 1.44 + 2.4}, 1e-14);

  static constexpr auto until = [](auto v, auto step) {
    auto is_small = [](auto both) { return plx::sum(both.first) < 10.; };
    auto round = [](auto both) { return std::pair{both.first + both.second, both.second}; };
    return plx::while_loop(is_small, round, std::pair{v, step});
  };
  auto [sum, same] = plx::jit(until)(x, y);
  check_close<double>(sum, {2}, {1.5 + 5 * 0.8, -0.5 + 5 * 1.2}, 1e-14);
  check_close<double>(same, {2}, {0.8, 1.2}, 0);

  static constexpr auto idle = [](auto v) {
    auto there = plx::fori_loop(0, 4, [](auto, auto u) { return u; }, v);
    return plx::while_loop([](auto u) { return plx::sum(u) > 100.; }, [](auto u) { return u; }, there);
  };
  check_close<double>(plx::jit(idle)(x), {2}, {1.5, -0.5}, 0);
}

} // namespace fori_loop_test

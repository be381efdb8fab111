// custom_jvp and custom_vjp: the rules are used, in every transformation and nesting, and nothing else is.
#include "expected.hpp"

#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

namespace custom_rules_test {

namespace {

using namespace conformance;
using numbers = plx::array<double, 1>;
using number = plx::array<double, 0>;
using vector = std::vector<double>;

// log(1 + exp(x)), whose own derivative is NaN where x is large; the rules' is not
constexpr auto softplus = [](auto x) { return plx::log(1. + plx::exp(x)); };
constexpr auto by_jvp = plx::custom_jvp(softplus, [](auto at, auto along) {
  auto [x] = at;
  auto [v] = along;
  return std::pair{softplus(x), v * (1. - 1. / (1. + plx::exp(x)))};
});
constexpr auto by_vjp = plx::custom_vjp(
    softplus, [](auto x) { return std::pair{softplus(x), plx::exp(x)}; },
    [](auto exponential, auto g) { return std::tuple{g * (1. - 1. / (1. + exponential))}; });
double slope(double x) { return 1 - 1 / (1 + std::exp(x)); }

// rules that are wrong on purpose, so that it shows which was used
constexpr auto scaled =
    plx::custom_vjp([](auto x, auto w, auto n) { return std::pair{plx::dot(x, w) * plx::astype<double>(n), n + 1}; },
                    [](auto x, auto w, auto n) {
                      return std::pair{std::pair{plx::dot(x, w) * plx::astype<double>(n), n + 1}, std::tuple{x, w}};
                    },
                    [](auto kept, auto g) {
                      auto [x, w] = kept;
                      return std::tuple{100. * g.first * w, 10. * g.first * x, plx::none};
                    });

} // namespace

TEST_CASE("custom_jvp: forward mode, reverse mode, and where the function's own derivative is no number") {
  const numbers x{-1., 0.5, 800.};
  const vector slopes{slope(-1), slope(0.5), 1};
  check_close<double>(plx::jvp(by_jvp, std::tuple{x}, std::tuple{numbers{1., 2., 3.}}).second, {3},
                      {slopes[0], 2 * slopes[1], 3 * slopes[2]}, 1e-14);
  static constexpr auto total = [](auto v) { return plx::sum(by_jvp(v)); };
  check_close<double>(plx::grad(total)(x), {3}, slopes, 1e-14);
  check_close<double>(plx::vmap(plx::grad(by_jvp))(x), {3}, slopes, 1e-14);
  check_close<double>(plx::pmap(plx::grad(by_jvp))(x), {3}, slopes, 1e-14);
  check_close<double>(plx::grad([](auto v) { return plx::sum(plx::vmap(by_jvp)(v)); })(x), {3}, slopes, 1e-14);
  // a second derivative is that of the rule
  const double s = slope(0.5);
  check_close<double>(plx::grad(plx::grad(by_jvp))(number(0.5)), {}, {s * (1 - s)}, 1e-12);
  check_close<double>(plx::hessian(by_jvp)(number(0.5)), {}, {s * (1 - s)}, 1e-12);
}

TEST_CASE("custom_vjp: reverse mode, alone, in batches, on devices, in loops") {
  const numbers x{-1., 0.5, 2.};
  const vector slopes{slope(-1), slope(0.5), slope(2)};
  static constexpr auto total = [](auto v) { return plx::sum(by_vjp(v)); };
  check_close<double>(plx::jit(by_vjp)(x), {3},
                      {std::log1p(std::exp(-1)), std::log1p(std::exp(0.5)), std::log1p(std::exp(2))}, 1e-14);
  check_close<double>(plx::grad(total)(x), {3}, slopes, 1e-14);
  check_close<double>(plx::vmap(plx::grad(by_vjp))(x), {3}, slopes, 1e-14);
  check_close<double>(plx::pmap(plx::grad(by_vjp))(x), {3}, slopes, 1e-14);
  check_close<double>(plx::grad([](auto v) { return plx::sum(plx::pmap(by_vjp)(v)); })(x), {3}, slopes, 1e-14);
  const double s = slope(0.5);
  check_close<double>(plx::grad(plx::grad(by_vjp))(number(0.5)), {}, {s * (1 - s)}, 1e-12);
  static constexpr auto twice = [](auto v) { return plx::fori_loop(0, 2, [](auto, auto u) { return by_vjp(u); }, v); };
  const double once = std::log1p(std::exp(0.5));
  check_close<double>(plx::grad(twice)(number(0.5)), {}, {slope(0.5) * slope(once)}, 1e-14);
}

TEST_CASE("custom_vjp: several arguments, an integer among them, and results that are trees") {
  const numbers x{1., 2.}, w{3., 4.};
  static constexpr auto loss = [](auto a, auto b, auto n) { return scaled(a, b, n).first; };
  const auto [by_x, by_w] = plx::grad(loss, plx::argnums<0, 1>)(x, w, 2);
  check_close<double>(by_x, {2}, {300, 400});
  check_close<double>(by_w, {2}, {10, 20});
  // in a batch of x, w is shared: its cotangents add up
  static constexpr auto batch = [](auto a, auto b) {
    return plx::sum(plx::vmap([b](auto row) { return scaled(row, b, 1).first; })(a));
  };
  const plx::array<double, 2> rows{{1., 2.}, {5., 6.}};
  const auto [by_rows, by_shared] = plx::grad(batch, plx::argnums<0, 1>)(rows, w);
  check_close<double>(by_rows, {2, 2}, {300, 400, 300, 400});
  check_close<double>(by_shared, {2}, {60, 80});
}

TEST_CASE("custom rules of a function that closes over what is not differentiated") {
  static constexpr auto shifted = [](auto x, auto c) {
    auto f = plx::custom_jvp(
        [c](auto v) { return v * c; },
        [c](auto at, auto along) { return std::pair{std::get<0>(at) * c, 7. * std::get<0>(along) * c}; });
    return plx::sum(f(x));
  };
  check_close<double>(plx::grad(shifted)(numbers{1., 2.}, number(3.)), {2}, {21, 21});
  check_close<double>(
      plx::jvp(shifted, std::tuple{numbers{1., 2.}, number(3.)}, std::tuple{numbers{1., 0.}, plx::none}).second, {},
      {21});
}

} // namespace custom_rules_test

// Programs as users write them first, whose constants are arrays like any other: a robot's arm, a Gaussian process and
// a sampler, beside plain loops.
#include "ops/reference.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <tuple>
#include <utility>
#include <vector>

namespace users_programs_test {

namespace {

namespace plx = parallax;
using reference::table;
using vector = plx::array<double, 1>;

// An arm of three joints: each link lies along z, and its joint turns it and all links behind it.

constexpr auto cross = [](auto a, auto b) {
  return plx::stack({a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]});
};
constexpr auto turned = [](auto axis, auto angle, auto v) {
  auto c = plx::cos(angle);
  return v * c + cross(axis, v) * plx::sin(angle) + axis * (plx::dot(axis, v) * (1 - c));
};
constexpr auto arm = [](auto angles) {
  auto axes = plx::array<double, 2>{{0, 0, 1}, {0, 1, 0}, {0.6, 0.8, 0}};
  auto lengths = plx::array<double, 1>{0.4, 0.3, 0.2};
  auto up = plx::array<double, 1>{0, 0, 1};
  auto tip = plx::zeros<double>({3});
  for (int j = 2; j >= 0; --j) tip = turned(axes[j], angles[j], tip + up * lengths[j]);
  return tip;
};
constexpr auto miss = [](auto angles) {
  auto axes = plx::array<double, 2>{{0, 0, 1}, {0, 1, 0}, {0.6, 0.8, 0}};
  auto links = plx::expand_dims(plx::array<double, 1>{0.4, 0.3, 0.2}, plx::axis<1>) * plx::array<double, 1>{0, 0, 1};
  auto joint = [&](auto i, auto tip) { return turned(axes[2 - i], angles[2 - i], tip + links[2 - i]); };
  auto tip = plx::fori_loop(0, 3, joint, plx::zeros<double>({3}));
  return plx::sum(plx::square(tip - plx::array<double, 1>{0.1, 0.2, 0.5}));
};
constexpr auto arm_and_slope = [](auto angles) { return std::tuple{arm(angles), plx::grad(miss)(angles)}; };

using point = std::array<double, 3>;
point expected_tip(const table& angles) {
  const point axes[] = {{0, 0, 1}, {0, 1, 0}, {0.6, 0.8, 0}};
  const double lengths[] = {0.4, 0.3, 0.2};
  point tip{};
  for (std::size_t j = 3; j-- > 0;) {
    tip[2] += lengths[j];
    const point a = axes[j], v = tip;
    const double c = std::cos(angles.values[j]), s = std::sin(angles.values[j]);
    const double along = a[0] * v[0] + a[1] * v[1] + a[2] * v[2];
    for (std::size_t i = 0; i < 3; ++i) {
      const std::size_t k = (i + 1) % 3, l = (i + 2) % 3;
      tip[i] = v[i] * c + (a[k] * v[l] - a[l] * v[k]) * s + a[i] * along * (1 - c);
    }
  }
  return tip;
}
double expected_miss(const table& angles) {
  const point tip = expected_tip(angles);
  return std::pow(tip[0] - 0.1, 2) + std::pow(tip[1] - 0.2, 2) + std::pow(tip[2] - 0.5, 2);
}

// A Gaussian process: its log likelihood by a Cholesky decomposition.

constexpr auto cholesky = [](auto a) {
  auto n = a.shape(0);
  auto column = [&](auto j, auto l) {
    auto below = a[j] - plx::dot(l, l[j]);
    below = plx::where(plx::arange(n) < j, 0, below) / plx::sqrt(below[j]);
    return l.at(plx::none, j).set(below);
  };
  return plx::fori_loop(0, n, column, plx::zeros<double>({n, n}));
};
constexpr auto solve_lower = [](auto l, auto b) {
  auto n = b.shape(0);
  auto row = [&](auto i, auto z) { return z.at(i).set((b[i] - plx::dot(l[i], z)) / l[i][i]); };
  return plx::fori_loop(0, n, row, plx::zeros<double>({n}));
};
constexpr auto process = [](auto scale, auto x, auto y) {
  auto n = x.shape(0);
  auto kernel = [&](auto s, auto t) { return plx::exp(-plx::square((s - t) / scale) / 2); };
  auto k = plx::vmap([&](auto s) { return plx::vmap([&](auto t) { return kernel(s, t); })(x); })(x);
  auto eye = plx::expand_dims(plx::arange(n), 1) == plx::arange(n);
  auto l = cholesky(k + 0.1 * plx::astype<double>(eye));
  auto z = solve_lower(l, y);
  auto diagonal = plx::vmap([&](auto i) { return l[i][i]; })(plx::arange(n));
  return -0.5 * plx::dot(z, z) - plx::sum(plx::log(diagonal)) - n / 2. * plx::log(2 * 3.141592653589793);
};

double expected_process(double scale, const table& x, const table& y) {
  const std::size_t n = x.values.size();
  auto kernel = [&](double s, double t) { return std::exp(-std::pow((s - t) / scale, 2) / 2); };
  std::vector<std::vector<double>> l(n, std::vector<double>(n));
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      double rest = kernel(x.values[i], x.values[j]) + (i == j ? 0.1 : 0);
      for (std::size_t k = 0; k < j; ++k) rest -= l[i][k] * l[j][k];
      l[i][j] = i == j ? std::sqrt(rest) : rest / l[j][j];
    }
  double result = 0;
  std::vector<double> z = y.values;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < i; ++j) z[i] -= l[i][j] * z[j];
    z[i] /= l[i][i];
    result -= 0.5 * z[i] * z[i] + std::log(l[i][i]) + 0.5 * std::log(2 * 3.141592653589793);
  }
  return result;
}

// Hamiltonian Monte Carlo by four chains, which begin at 0. Samples, how many were new, and what was drawn for them.

constexpr auto log_density = [](auto x) {
  return -0.5 * plx::sum(plx::square(x - plx::array<double, 1>{1, -1}) * plx::array<double, 1>{1, 4});
};
constexpr auto chains = [](auto key, auto size) {
  auto leapfrog = [&](auto, auto state) {
    auto [x, p] = state;
    auto half = p + 0.5 * size * plx::grad(log_density)(x);
    auto next = x + size * half;
    return std::pair{next, half + 0.5 * size * plx::grad(log_density)(next)};
  };
  auto make = [&](auto i) {
    auto chain_key = plx::random::fold_in(key, i);
    auto draw = [&](auto carry, auto step) {
      auto [x, accepted] = carry;
      auto step_key = plx::random::fold_in(chain_key, step);
      auto p = plx::random::normal<double>(step_key, {2});
      auto u = plx::random::uniform<double>(plx::random::fold_in(step_key, 1));
      auto [y, q] = plx::fori_loop(0, 4, leapfrog, std::pair{x, p});
      auto yes = plx::log(u) < log_density(y) - log_density(x) + 0.5 * (plx::dot(p, p) - plx::dot(q, q));
      auto next = plx::where(yes, y, x);
      return std::pair{std::pair{next, accepted + plx::astype<int>(yes)}, std::tuple{next, p, u}};
    };
    auto [last, drawn] = plx::scan(draw, std::pair{plx::zeros<double>({2}), 0}, plx::arange(6));
    return std::pair{last.second, drawn};
  };
  return plx::vmap(make)(plx::arange(4));
};

} // namespace

TEST_CASE("an arm's links and axes are tables that a loop reads, and its tip begins as zeros") {
  const vector angles{0.3, -0.5, 0.8};
  auto [tip, slope] = plx::jit(arm_and_slope)(angles);
  const table at = reference::table_of(angles);
  const point expected = expected_tip(at);
  reference::compare(tip, table{{3}, {expected.begin(), expected.end()}}, 0, 1e-14);
  reference::compare(slope, reference::finite_difference_gradient(expected_miss, at), 1e-8, 1e-8);
}

TEST_CASE(
    "a Gaussian process solves by loops that begin with zeros, and reads a diagonal at places that are constants") {
  const table x = reference::numbers({5}, -1, 1), y = reference::numbers({5}, -1, 1, 0.3);
  auto [value, slope] =
      plx::jit(plx::value_and_grad(process))(0.7, reference::array_of<double, 1>(x), reference::array_of<double, 1>(y));
  CHECK(value.item() == Approx(expected_process(0.7, x, y)).epsilon(1e-12));
  auto of_scale = [&](const table& scale) { return expected_process(scale.values[0], x, y); };
  reference::compare(slope, reference::finite_difference_gradient(of_scale, table{{}, {0.7}}), 1e-7, 1e-7);
}

TEST_CASE("a sampler's chains are mapped over their numbers, and begin with constants") {
  const plx::array key = plx::random::key(3);
  auto [accepted, drawn] = plx::jit(chains)(key, 0.45);
  auto [samples, momenta, uniforms] = drawn;
  for (int chain = 0; chain < 4; ++chain) {
    INFO("chain " << chain);
    std::array<double, 2> x{};
    int times = 0;
    auto density = [](const std::array<double, 2>& at) {
      return -0.5 * (std::pow(at[0] - 1, 2) + 4 * std::pow(at[1] + 1, 2));
    };
    for (int step = 0; step < 6; ++step) {
      std::array<double, 2> y = x, p{momenta(chain, step, 0), momenta(chain, step, 1)};
      const double before = density(x) - 0.5 * (p[0] * p[0] + p[1] * p[1]);
      for (int round = 0; round < 4; ++round)
        for (std::size_t k = 0; k < 2; ++k) {
          auto push = [&] { p[k] -= 0.225 * (k == 0 ? y[k] - 1 : 4 * (y[k] + 1)); };
          push();
          y[k] += 0.45 * p[k];
          push();
        }
      const double gain = density(y) - 0.5 * (p[0] * p[0] + p[1] * p[1]) - before;
      if (std::log(uniforms(chain, step)) < gain) x = y, ++times;
      CHECK(samples(chain, step, 0) == Approx(x[0]).epsilon(1e-12));
      CHECK(samples(chain, step, 1) == Approx(x[1]).epsilon(1e-12));
    }
    CHECK(accepted(chain) == times);
  }
  const plx::array p = plx::random::normal<double>(plx::random::fold_in(plx::random::fold_in(key, 2), 3), {2});
  CHECK(p.to_vector() == std::vector<double>{momenta(2, 3, 0), momenta(2, 3, 1)});
}

} // namespace users_programs_test

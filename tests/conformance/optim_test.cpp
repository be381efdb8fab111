// Optimisers beside plain C++ loops of the formulas, in trees, with schedules, on devices.
#include "expected.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <tuple>
#include <utility>
#include <vector>

namespace optim_test {

namespace {

using namespace conformance;
namespace optim = plx::optim;
using vector = std::vector<double>;

template <class W, class B> struct layer {
  W weights;
  B bias;
};
using parameters = layer<plx::array<double, 1>, plx::array<double, 0>>;

constexpr auto loss = [](auto p) { return plx::sum(plx::power(p.weights - 1., 4)) + 3. * p.bias * p.bias; };
vector gradient_at(const vector& p) { return {4 * std::pow(p[0] - 1, 3), 4 * std::pow(p[1] - 1, 3), 6 * p[2]}; }
const parameters start{{0.5, -2.}, plx::array<double, 0>(1.5)};
const vector first{0.5, -2., 1.5};

/// Steps of an optimiser, one call each.
template <auto& Optimiser> vector after(int steps) {
  static constexpr auto step = [](auto p, auto state) {
    auto [updates, next] = Optimiser.update(plx::grad(loss)(p), state, p);
    return std::pair{plx::optim::apply_updates(p, updates), next};
  };
  auto state = Optimiser.init(start);
  parameters p = start;
  for (int i = 0; i < steps; ++i) std::tie(p, state) = plx::jit(step)(p, state);
  return {p.weights.values()[0], p.weights.values()[1], p.bias.item()};
}
void check_numbers(const vector& found, const vector& expected) {
  for (std::size_t i = 0; i < expected.size(); ++i) CHECK(found[i] == Approx(expected[i]).epsilon(1e-12));
}

constexpr auto plain = optim::sgd(0.05);
constexpr auto with_momentum = optim::sgd(0.02, 0.9);
constexpr auto ahead = optim::sgd(0.02, 0.9, true);
constexpr auto adam = optim::adam(0.1);
constexpr auto decayed = optim::adamw(optim::exponential_decay{0.1, 2, 0.5}, 0.01, {.b1 = 0.8, .b2 = 0.95});
constexpr auto clipped = optim::chain(optim::clip_by_global_norm(2.), optim::scale(-0.1));

} // namespace

TEST_CASE("optim: sgd, with momentum and Nesterov's") {
  vector one_by_one = first;
  for (int i = 0; i < 4; ++i) {
    const vector g = gradient_at(one_by_one);
    for (std::size_t k = 0; k < 3; ++k) one_by_one[k] -= 0.05 * g[k];
  }
  check_numbers(after<plain>(4), one_by_one);
  for (bool nesterov : {false, true}) {
    vector q = first, sums(3);
    for (int i = 0; i < 5; ++i) {
      const vector g = gradient_at(q);
      for (std::size_t k = 0; k < 3; ++k) {
        sums[k] = g[k] + 0.9 * sums[k];
        q[k] -= 0.02 * (nesterov ? g[k] + 0.9 * sums[k] : sums[k]);
      }
    }
    check_numbers(nesterov ? after<ahead>(5) : after<with_momentum>(5), q);
  }
}

TEST_CASE("optim: adam and adamw, whose rate falls") {
  for (bool decays : {false, true}) {
    const double b1 = decays ? 0.8 : 0.9, b2 = decays ? 0.95 : 0.999;
    vector p = first, mu(3), nu(3);
    for (int i = 0; i < 6; ++i) {
      const vector g = gradient_at(p);
      const double rate =
          decays ? static_cast<double>(static_cast<float>(0.1) * std::pow(0.5f, static_cast<float>(i) / 2)) : 0.1;
      for (std::size_t k = 0; k < 3; ++k) {
        mu[k] = b1 * mu[k] + (1 - b1) * g[k];
        nu[k] = b2 * nu[k] + (1 - b2) * g[k] * g[k];
        const double step = mu[k] / (1 - std::pow(b1, i + 1)) / (std::sqrt(nu[k] / (1 - std::pow(b2, i + 1))) + 1e-8);
        p[k] -= rate * (step + (decays ? 0.01 * p[k] : 0));
      }
    }
    const vector found = decays ? after<decayed>(6) : after<adam>(6);
    for (std::size_t k = 0; k < 3; ++k) CHECK(found[k] == Approx(p[k]).epsilon(decays ? 1e-6 : 1e-12));
  }
}

template <class Float> void check_one_step_of_adam(double precision) {
  static constexpr auto step = [](auto p, auto g, auto state) {
    auto [updates, next] = adam.update(g, state); // without weights that decay, it needs no parameters
    return std::pair{optim::apply_updates(p, updates), next};
  };
  const plx::array<Float, 1> p{Float(1.f), Float(2.f)}, g{Float(0.5f), Float(-0.25f)};
  const auto moved = plx::jit(step)(p, g, adam.init(p)).first;
  CHECK(static_cast<float>(moved.values()[0]) == Approx(0.9).epsilon(precision));
  CHECK(static_cast<float>(moved.values()[1]) == Approx(2.1).epsilon(precision));
}
TEST_CASE("optim: adam moves parameters of 16 bits, in whose type 0.999 is 1") {
  check_one_step_of_adam<plx::bfloat16>(1. / 256);
  check_one_step_of_adam<plx::float16>(1. / 1024);
}

TEST_CASE("grad: negative argnums count from the end") {
  static constexpr auto f = [](auto x, auto y, auto z) { return x * y + 2. * y * z + z * x; };
  const plx::array<double, 0> x(2.), y(3.), z(5.);
  CHECK(plx::grad(f, plx::argnums<-1>)(x, y, z).item() == 2 * 3 + 2.);
  const auto [by_x, by_y] = plx::value_and_grad(f, plx::argnums<-3, 1>)(x, y, z).second;
  CHECK(by_x.item() == 3. + 5);
  CHECK(by_y.item() == 2. + 2 * 5);
  CHECK(plx::jacfwd(f, plx::argnums<-2>)(x, y, z).item() == 2. + 2 * 5);
  CHECK(plx::jacrev(f, plx::argnums<-1>)(x, y, z).item() == 2 * 3 + 2.);
  CHECK(std::get<0>(std::get<1>(plx::hessian(f, plx::argnums<0, -1>)(x, y, z))).item() == 1.);
}

TEST_CASE("optim: updates are clipped as one vector, and short ones stay") {
  vector p = first;
  for (int i = 0; i < 8; ++i) {
    const vector g = gradient_at(p);
    const double norm = std::sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]), factor = norm < 2 ? 1 : 2 / norm;
    for (std::size_t k = 0; k < 3; ++k) p[k] -= 0.1 * factor * g[k];
  }
  check_numbers(after<clipped>(8), p);
}

TEST_CASE("optim: schedules are functions of the number of steps") {
  static constexpr auto all = [](auto n) {
    return std::tuple{optim::constant_schedule{0.3}(n) + 0.f * plx::astype<float>(n),
                      optim::linear_schedule{1., 0.2, 4, 1}(n), optim::exponential_decay{0.5, 2, 0.1, 0, true}(n),
                      optim::cosine_decay_schedule{2., 4, 0.1}(n),
                      optim::warmup_cosine_decay_schedule{0.1, 1., 2, 6, 0.01}(n)};
  };
  for (int n = 0; n < 9; ++n) {
    const auto [constant, linear, exponential, cosine, warm] = plx::jit(all)(plx::array<std::int32_t, 0>(n));
    const double pi = std::numbers::pi, done = std::min(n / 4., 1.);
    CHECK(constant.item() == Approx(0.3));
    CHECK(linear.item() == Approx(1 - 0.8 * std::clamp((n - 1) / 4., 0., 1.)));
    CHECK(exponential.item() == Approx(n <= 0 ? 0.5 : 0.5 * std::pow(0.1, std::floor(n / 2.))));
    CHECK(cosine.item() == Approx(2 * (0.9 * 0.5 * (1 + std::cos(pi * done)) + 0.1)));
    const double later = std::min((n - 2) / 4., 1.);
    CHECK(warm.item() == Approx(n < 2 ? 0.1 + 0.9 * n / 2. : 0.99 * 0.5 * (1 + std::cos(pi * later)) + 0.01));
  }
}

TEST_CASE("optim: schedules without steps stay at their first value, as optax's") {
  static constexpr auto all = [](auto n) {
    return std::tuple{optim::linear_schedule{1., 0.25, 0}(n),
                      optim::linear_schedule{1., 0.25, -3, 2}(n),
                      optim::exponential_decay{1., 0, 0.5}(n),
                      optim::exponential_decay{1., 0, 0.5, 0, true}(n),
                      optim::exponential_decay{1., 3, 0.}(n),
                      optim::warmup_cosine_decay_schedule{0.5, 1., 0, 4}(n),
                      optim::warmup_cosine_decay_schedule{0.5, 0., 1, 5, 0.25}(n)};
  };
  for (int n : {0, 1, 3, 5}) {
    INFO("step " << n);
    const auto [line, early, falling, stairs, rootless, warm, flat] = plx::jit(all)(plx::array<std::int32_t, 0>(n));
    for (const auto& value : {line, early, falling, stairs, rootless}) CHECK(value.item() == 1.f);
    CHECK(warm.item() == Approx(0.5 * (1 + std::cos(std::numbers::pi * std::min(n / 4., 1.)))).margin(1e-7));
    CHECK(flat.item() == (n == 0 ? 0.5f : 0.f));
  }
  // several numbers of steps at once, and a schedule that would have begun before the first one
  static constexpr auto at_each = [](auto n) {
    return std::pair{optim::linear_schedule{1., 0.25, 0}(n), optim::linear_schedule{1., 0., 4, -2}(n)};
  };
  const auto [same, falls] = plx::jit(at_each)(plx::arange(5));
  check_equal<float>(same, {5}, {1, 1, 1, 1, 1});
  check_equal<float>(falls, {5}, {1, .75f, .5f, .25f, 0});
}

TEST_CASE("optim: a step on each device, whose gradients meet") {
  static constexpr auto step = [](auto p, auto state, auto shift) {
    auto shifted = [shift](auto q) { return plx::sum((q.weights - shift) * (q.weights - shift)); };
    auto gradients = plx::pmean<"i">(plx::grad(shifted)(p));
    auto [updates, next] = adam.update(gradients, state, p);
    return std::pair{optim::apply_updates(p, updates), next};
  };
  static constexpr auto on_devices =
      plx::pmap<"i">(step, plx::in_axes<plx::none, plx::none, 0>, plx::out_axes<plx::none>);
  const layer<plx::array<float, 1>, plx::array<float, 0>> p{{1.f, 2.f}, plx::array<float, 0>(0.f)};
  const auto state = adam.init(p);
  CHECK(std::get<0>(state).count.item() == 0);
  const auto [moved, next] = on_devices(p, state, plx::array<float, 1>{0.f, 4.f});
  // both gradients' mean is 2 (w - 2): Adam's first step is the rate, against its sign
  check_close<float>(moved.weights, {2}, {1.1f, 2.f}, 1e-4f);
}

TEST_CASE("tree_leaves: a tree's leaves from left to right") {
  const auto [a, b, c] = plx::tree_leaves(std::pair{std::array{1, 2}, std::tuple{3, std::tuple<>{}}});
  CHECK(a + 10 * b + 100 * c == 321);
  const auto mixed = plx::tree_leaves(std::tuple{1, std::pair{2.5, 'x'}});
  CHECK(std::get<1>(mixed) == 2.5);
}

} // namespace optim_test

// Optimisers of parameters of 16 bits beside the same steps in double: what is small, large or close to 1 there.
#include "expected.hpp"

#include <array>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

namespace optim_16_bits_test {

namespace {

using namespace conformance;
namespace optim = plx::optim;

constexpr auto adam = optim::adam(1e-3);
constexpr auto slow = optim::scale_by_adam();

template <auto& Optimiser>
constexpr auto updates_of = [](auto gradients, auto state) { return Optimiser.update(gradients, state, gradients); };

/// Updates after `steps` steps of the same gradient.
template <auto& Optimiser, class Float> std::vector<double> steady(const std::vector<double>& gradient, int steps) {
  auto g = plx::array<Float, 1>::uninitialised({static_cast<std::int64_t>(gradient.size())});
  for (std::size_t i = 0; i < gradient.size(); ++i) g.mutable_data()[i] = Float(gradient[i]);
  auto state = Optimiser.init(g);
  auto updates = g;
  for (int i = 0; i < steps; ++i) std::tie(updates, state) = plx::jit(updates_of<Optimiser>)(g, state);
  std::vector<double> result;
  for (const Float& u : updates.values()) result.push_back(static_cast<double>(u));
  return result;
}
void check_each(const std::vector<double>& found, const std::vector<double>& expected, double precision) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    INFO("element " << i);
    CHECK(std::abs(found[i] - expected[i]) <= precision * std::abs(expected[i]));
  }
}

} // namespace

TEST_CASE("optim: adam of float16 stays where gradients are 0, and takes whole steps of small and large ones") {
  for (int steps : {1, 3, 40}) {
    INFO(steps << " steps");
    check_each(steady<adam, plx::float16>({0., 1e-4, -2e-5, 30000.}, steps), {0, -1e-3, 1e-3, -1e-3}, 0.01);
    check_each(steady<adam, plx::bfloat16>({0., 1e-4, -2e-5, 30000., 1e-12}, steps),
               {0, -1e-3, 1e-3, -1e-3, -1e-3 / (1 + 1e4)}, 0.02);
  }
}

TEST_CASE("optim: adam's mean of squares falls again after one large gradient of bfloat16") {
  // a step takes a thousandth of the mean, less than half the last place of bfloat16
  const plx::array<plx::bfloat16, 1> large{plx::bfloat16(8.f)}, none{plx::bfloat16(0.f)};
  auto state = slow.init(large);
  auto updates = large;
  std::tie(updates, state) = plx::jit(updates_of<slow>)(large, state);
  for (int i = 0; i < 300; ++i) std::tie(updates, state) = plx::jit(updates_of<slow>)(none, state);
  CHECK(static_cast<double>(state.nu.values()[0]) == Approx(0.064 * std::pow(0.999, 300)).epsilon(1e-4));
}

TEST_CASE("optim: means of gradients keep the type of parameters, those of squares of 16 bits are float32") {
  const auto state = adam.init(std::pair{plx::array<plx::float16, 1>{plx::float16(1.f)}, plx::array<double, 0>(1.)});
  const auto& moments = std::get<0>(state);
  static_assert(std::same_as<std::remove_cvref_t<decltype(moments.mu.first)>::value_type, plx::float16>);
  static_assert(std::same_as<std::remove_cvref_t<decltype(moments.nu.first)>::value_type, float>);
  static_assert(std::same_as<std::remove_cvref_t<decltype(moments.nu.second)>::value_type, double>);
  CHECK(moments.nu.first.values()[0] == 0.f);
}

namespace {

constexpr auto small_rate = optim::sgd(1e-8);
constexpr auto small_rate_by_schedule = optim::sgd(optim::constant_schedule{1e-8});
constexpr auto scaled = optim::scale(1e-8);

} // namespace

TEST_CASE("optim: rates that vanish in float16 still move large updates, and 0.999 is not 1 in bfloat16") {
  check_each(steady<small_rate, plx::float16>({30000.}, 1), {-3e-4}, 1e-3);
  check_each(steady<small_rate_by_schedule, plx::float16>({30000.}, 1), {-3e-4}, 1e-3);
  check_each(steady<scaled, plx::float16>({30000.}, 1), {3e-4}, 1e-3);
  // a momentum of 0.9979 is 0.99609 there, which makes 192 of 193
  constexpr auto shorter = [](auto sum) {
    return optim::trace(0.9979).update(0.f * sum, optim::trace_state<decltype(sum)>{sum}).first;
  };
  const plx::array<plx::bfloat16, 1> sum{plx::bfloat16(193.f)};
  CHECK(static_cast<float>(plx::jit(shorter)(sum).values()[0]) == 193.f);
}

namespace {

template <class Float> auto halves(float a, float b) {
  return std::pair{plx::array<Float, 1>{Float(a)}, plx::array<Float, 1>{Float(b)}};
}
template <class Float> std::array<double, 2> clipped(float a, float b) {
  constexpr auto clip = [](auto g) {
    constexpr auto to_one = optim::clip_by_global_norm(1.);
    return to_one.update(g, to_one.init(g)).first;
  };
  const auto [x, y] = plx::jit(clip)(halves<Float>(a, b));
  static_assert(std::same_as<typename std::remove_cvref_t<decltype(x)>::value_type, Float>);
  return {static_cast<double>(x.values()[0]), static_cast<double>(y.values()[0])};
}

} // namespace

TEST_CASE("optim: norms of 16 bits neither overflow nor vanish where they clip") {
  const double half = std::sqrt(0.5);
  for (float size : {300.f, 60000.f}) {
    const auto [x, y] = clipped<plx::float16>(size, size);
    CHECK(x == Approx(half).epsilon(1e-3));
    CHECK(y == Approx(half).epsilon(1e-3));
    CHECK(clipped<plx::bfloat16>(size, size)[1] == Approx(half).epsilon(1e-2));
  }
  CHECK(clipped<plx::float16>(0.25f, 0.25f)[0] == 0.25);
  constexpr auto norm = [](auto g) { return optim::global_norm(g); };
  const plx::array<float, 0> large = plx::jit(norm)(halves<plx::float16>(60000.f, 60000.f));
  CHECK(large.item() == Approx(60000 * std::sqrt(2.)).epsilon(1e-3));
  const plx::array<float, 0> small = plx::jit(norm)(halves<plx::float16>(3e-5f, 4e-5f));
  CHECK(small.item() == Approx(5e-5).epsilon(1e-2));
}

TEST_CASE("optim: updates of nothing, clipped to nothing, are nothing") {
  constexpr auto clip = [](auto g) {
    constexpr auto to_none = optim::clip_by_global_norm(0.);
    return to_none.update(g, to_none.init(g)).first;
  };
  check_equal<float>(plx::jit(clip)(plx::array<float, 1>{0.f, 0.f}), {2}, {0, 0});
  check_equal<float>(plx::jit(clip)(plx::array<float, 1>{3.f, -4.f}), {2}, {0, 0});
}

} // namespace optim_16_bits_test

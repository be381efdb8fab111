// What the way back through loops, maps and branches computes again instead of keeping it.
#include "support/test.hpp"

#include <parallax/parallax.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <tuple>
#include <utility>
#include <vector>

namespace cheap_residuals_test {

namespace {

namespace plx = parallax;
using numbers = plx::array<double, 1>;

constexpr std::int64_t rounds = 32, size = 4096;
constexpr auto field = plx::shaped<float, size>;

/// What the gradient of so many rounds costs.
template <class Step, std::size_t Carries> constexpr plx::program_cost cost_of(Step, std::array<int, Carries>) {
  const auto loss = [](auto... carries) {
    const auto round = [](auto carry, auto) { return std::pair{std::apply(Step{}, carry), plx::none}; };
    const auto last = plx::scan(round, std::tuple{carries...}, plx::none, plx::length<rounds>).first;
    return plx::sum(std::get<0>(last));
  };
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return plx::cost(plx::grad(loss), ((void)I, field)...);
  }(std::make_index_sequence<Carries>{});
}
/// How many fields it keeps for each round, besides less than one.
template <class Step, std::size_t Carries> constexpr std::int64_t fields_kept(Step step, std::array<int, Carries> of) {
  return cost_of(step, of).peak_bytes / (4 * size * rounds);
}
constexpr std::array one_field{0};
constexpr std::array two_fields{0, 0};

/// The stages of a Runge-Kutta method are made of what the round began with.
constexpr auto acceleration = [](auto x, auto v) { return (1.f - x * x) * v - x; };
constexpr auto runge_kutta = [](auto x, auto v) {
  constexpr float h = 0.125f;
  auto a = acceleration(x, v), v_a = v + h / 2 * a;
  auto b = acceleration(x + h / 2 * v, v_a), v_b = v + h / 2 * b;
  auto c = acceleration(x + h / 2 * v_a, v_b), v_c = v + h * c;
  auto d = acceleration(x + h * v_b, v_c);
  return std::tuple{x + h / 6 * (v + 2.f * v_a + 2.f * v_b + v_c), v + h / 6 * (a + 2.f * b + 2.f * c + d)};
};
static_assert(fields_kept(runge_kutta, two_fields) == 2);
// and the way back through a round is one loop: x and v to the next and to what is kept, and their cotangents
static_assert(cost_of(runge_kutta, two_fields).bytes_written / (4 * size * rounds) == 6);

// a carry is kept instead of what is made of it, an exponential as it is
static_assert(fields_kept([](auto x) { return std::tuple{plx::square(x * 2.f) * 0.5f}; }, one_field) == 1);
static_assert(fields_kept([](auto x) { return std::tuple{plx::square(plx::exp(x) * 2.f)}; }, one_field) == 1);
static_assert(fields_kept([](auto x) { return std::tuple{plx::exp(x) * plx::sin(x)}; }, one_field) == 3);
// two carries that are not read would take more than their sum
static_assert(fields_kept([](auto x, auto y) { return std::tuple{plx::square(x + y), plx::sin(y)}; }, two_fields) == 1);
// how the largest is found again: of a sum of products, which may have other bits, by keeping it
constexpr auto distance_to_largest = []<class Shift>(Shift) {
  return [](auto x) {
    auto moved = Shift{}(x);
    return std::tuple{x * (moved - plx::max(moved))};
  };
};
static_assert(fields_kept(distance_to_largest([](auto x) { return plx::abs(x) - 1.f; }), one_field) == 1);
static_assert(fields_kept(distance_to_largest([](auto x) { return x * 3.f - 1.f; }), one_field) == 2);
// likewise where the order of such sums decides, or which element of a table they say
static_assert(fields_kept([](auto x) { return std::tuple{x * plx::sort(plx::abs(x) - 1.f)}; }, one_field) == 2);
static_assert(fields_kept([](auto x) { return std::tuple{x * plx::sort(x * 3.f - 1.f)}; }, one_field) == 3);
constexpr auto interpolated = []<class Place>(Place) {
  return [](auto x, auto table) {
    auto place = Place{}(x);
    auto before = plx::astype<std::int32_t>(place);
    return std::tuple{x * plx::square(place - plx::astype<float>(before)) * plx::take(table, before), table};
  };
};
static_assert(fields_kept(interpolated([](auto x) { return plx::abs(x) - 1.f; }), two_fields) <
              fields_kept(interpolated([](auto x) { return x * 3.f - 1.f; }), two_fields));
// what is made of a branch's result, which is kept
static_assert(fields_kept(
                  [](auto x) {
                    auto y = plx::cond(
                        plx::sum(x) > 0.f, [](auto u) { return plx::sin(u); }, [](auto u) { return plx::exp(u); }, x);
                    auto z = y * 2.f + 1.f;
                    return std::tuple{y * y * z * z};
                  },
                  one_field) == 3);

// of a map, devices keep no more than they have
constexpr auto on_devices = [](auto x, auto y) {
  const auto each = [](auto row, auto other) {
    auto difference = row - other;
    return plx::sum(plx::square(difference) * plx::exp(row) + plx::abs(difference) * other);
  };
  return plx::sum(plx::pmap<"i">(each)(x, y));
};
constexpr auto rows = plx::shaped<float, 4, size>;
// arguments, gradients, what devices have of both, and the exponential, with its product: no difference
static_assert(plx::cost(plx::grad(on_devices, plx::argnums<0, 1>), rows, rows).peak_bytes / (4 * 4 * size) == 12);

/// The slope of `f` at element i, by central differences.
double slope(const std::function<double(const std::vector<double>&)>& f, std::vector<double> at, std::size_t i) {
  constexpr double step = 1e-6;
  const double middle = at[i];
  at[i] = middle + step;
  const double above = f(at);
  at[i] = middle - step;
  return (above - f(at)) / (2 * step);
}

} // namespace

TEST_CASE("gradients of steps whose stages are computed again") {
  constexpr auto distance = [](auto x, auto v) {
    const auto round = [](auto carry, auto) {
      auto [next, speed] = carry;
      auto turned =
          plx::cond(plx::sum(next) > 1., [](auto u) { return -(u * u - 1.); }, [](auto u) { return u * 2.; }, next);
      return std::pair{std::tuple{next + 0.1 * speed * speed, speed + 0.1 * (turned - next * speed)}, plx::none};
    };
    auto [last, speed] = plx::scan(round, std::tuple{x, v}, plx::none, plx::length<6>).first;
    return plx::sum(last * last + speed);
  };
  // the same by plain loops
  const auto by_hand = [](const std::vector<double>& start) {
    std::vector<double> x(start.begin(), start.begin() + 3), v(start.begin() + 3, start.end());
    for (int k = 0; k < 6; ++k) {
      const double total = x[0] + x[1] + x[2];
      for (std::size_t i = 0; i < 3; ++i) {
        const double turned = total > 1. ? 1. - x[i] * x[i] : 2. * x[i];
        const double next = x[i] + 0.1 * v[i] * v[i];
        v[i] += 0.1 * (turned - x[i] * v[i]);
        x[i] = next;
      }
    }
    double sum = 0;
    for (std::size_t i = 0; i < 3; ++i) sum += x[i] * x[i] + v[i];
    return sum;
  };
  const std::vector<double> start{0.3, -0.2, 0.5, 1.1, 0.4, -0.7};
  const auto [by_x, by_v] = plx::grad(distance, plx::argnums<0, 1>)(numbers{0.3, -0.2, 0.5}, numbers{1.1, 0.4, -0.7});
  const numbers slopes_x = by_x, slopes_v = by_v;
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(std::abs(slopes_x(static_cast<std::int64_t>(i)) - slope(by_hand, start, i)) < 1e-7);
    CHECK(std::abs(slopes_v(static_cast<std::int64_t>(i)) - slope(by_hand, start, i + 3)) < 1e-7);
  }
}

TEST_CASE("the largest of a sum of products is found again") {
  constexpr auto largest = [](auto shift, auto xs, auto scale) {
    const auto round = [&](auto total, auto x) { return std::pair{total + plx::max(x * scale + shift), plx::none}; };
    return plx::scan(round, 0.f, xs).first;
  };
  std::vector<float> values(8 * 37);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 0.1f * static_cast<float>((i * 29) % 71) + 0.013f;
  const plx::array<float, 2> xs({8, 37}, values);
  const plx::array<float, 1> shift({37}, std::vector<float>(37, 0.3f)), scale({37}, std::vector<float>(37, 1.7f));
  const plx::array<float, 1> by_shift = plx::jit(plx::grad(largest))(shift, xs, scale);
  float total = 0;
  for (std::int64_t i = 0; i < 37; ++i) total += by_shift(i);
  CHECK(total == 8.f); // one for each round
}

TEST_CASE("gradients of a map whose differences are computed again") {
  const plx::array<double, 2> x({4, 2}, std::vector{0.1, 0.9, -0.3, 0.4, 1.2, 0.8, -0.5, 0.2}),
      y({4, 2}, std::vector{0.7, -0.2, 0.6, 0.5, -1.1, 0.3, 0.25, 0.95});
  const auto [by_x, by_y] = plx::jit(plx::grad(on_devices, plx::argnums<0, 1>))(x, y);
  const plx::array<double, 2> slopes_x = by_x, slopes_y = by_y;
  for (std::int64_t i = 0; i < 4; ++i)
    for (std::int64_t j = 0; j < 2; ++j) {
      const double d = x(i, j) - y(i, j), e = std::exp(x(i, j)), sign = d > 0 ? 1 : -1;
      CHECK(std::abs(slopes_x(i, j) - (2 * d * e + d * d * e + sign * y(i, j))) < 1e-12);
      CHECK(std::abs(slopes_y(i, j) - (-2 * d * e - sign * y(i, j) + std::abs(d))) < 1e-12);
    }
}

} // namespace cheap_residuals_test

// Row sweeps: which reductions share a loop with what is computed beside them, and that the loop computes it.
#include "support/test.hpp"

#include "compile/lowered.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <tuple>
#include <vector>

namespace row_sweeps_test {

namespace plx = parallax;
using plx::shaped;

namespace {

template <class Function, class... Arguments> constexpr int steps(const Function&, const Arguments&...) {
  return lowered::main_section(lowered::program(Function{}, Arguments{}...)).steps.count;
}

constexpr auto matrix = shaped<float, 32, 64>;
constexpr auto row = shaped<float, 64>;

constexpr auto softmax = [](auto x) {
  auto e = plx::exp(x - plx::max(x, 1, plx::keepdims));
  return e / plx::sum(e, 1, plx::keepdims);
};
constexpr auto layernorm = [](auto x, auto scale, auto offset) {
  auto d = x - plx::mean(x, 1, plx::keepdims);
  return d * plx::rsqrt(plx::mean(d * d, 1, plx::keepdims) + 1e-5f) * scale + offset;
};
constexpr auto variance = [](auto x) {
  auto mean = plx::mean(x, 1);
  auto d = x - plx::reshape(mean, {x.shape(0), 1});
  return std::tuple{mean, plx::mean(d * d, 1)};
};

static_assert(steps(softmax, matrix) == 1);
static_assert(steps([](auto x) { return softmax(x * 2.f + 1.f); }, matrix) == 1);
static_assert(steps(layernorm, matrix, row, row) == 1);
static_assert(steps(variance, matrix) == 1);
static_assert(steps([](auto x) { return plx::logsumexp(x, 1); }, matrix) == 1);
static_assert(steps(plx::vmap([](auto x) { return x / plx::sum(x); }), matrix) == 1);
static_assert(steps([](auto x) { return std::pair{plx::sum(x, 1), plx::max(x, 1)}; }, matrix) == 1);
// the gradient too: softmax, the cotangent's product with it, and the sum along the rows
static_assert(steps(plx::grad([](auto x, auto y) { return plx::sum(softmax(x) * y); }), matrix, matrix) == 1);
// columns, short rows, and rows of different lengths are other loops, of which sums may run at once
static_assert(steps([](auto x) { return x / plx::sum(x, 0, plx::keepdims); }, matrix) == 2);
static_assert(steps([](auto x) { return x / plx::sum(x, 1, plx::keepdims); }, shaped<float, 100, 4>) == 2);
static_assert(steps([](auto x, auto y) { return plx::sum(x, 1) / plx::sum(y, 1); }, matrix, shaped<float, 32, 99>) ==
              2);
// another step in between: what a product needs cannot come from the loop that needs the product
static_assert(steps([](auto x, auto w) { return softmax(plx::matmul(softmax(x), w)); }, matrix,
                    shaped<float, 64, 64>) == 3);
constexpr auto mixed = [](auto x) {
  auto s = softmax(x);
  return s - plx::max(plx::transpose(plx::matmul(plx::transpose(s), x)), 1, plx::keepdims);
};
static_assert(steps(mixed, shaped<float, 64, 64>) == 3);

float element(std::size_t i) { return std::sin(static_cast<float>(i) * 0.7f) * 3; }
plx::array<float, 2> numbers(std::int64_t m, std::int64_t n) {
  std::vector<float> values(static_cast<std::size_t>(m * n));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = element(i);
  return {{m, n}, values};
}

constexpr auto run_softmax = plx::jit(softmax);
constexpr auto run_variance = plx::jit(variance);

void check_softmax(std::int64_t m, std::int64_t n) {
  const auto found = run_softmax(numbers(m, n));
  double worst = 0;
  for (std::int64_t r = 0; r < m; ++r) {
    auto at = [&](std::int64_t c) { return static_cast<std::size_t>(r * n + c); };
    double sum = 0;
    for (std::int64_t c = 0; c < n; ++c) sum += std::exp(static_cast<double>(element(at(c))));
    for (std::int64_t c = 0; c < n; ++c) {
      const double expected = std::exp(static_cast<double>(element(at(c)))) / sum;
      worst = std::max(worst, std::abs(static_cast<double>(found.values()[at(c)]) / expected - 1));
    }
  }
  INFO(m << " x " << n);
  CHECK(worst < 4e-6);
}

} // namespace

TEST_CASE("rows of all lengths, of many and of few rows") {
  for (std::int64_t n = 1; n < 80; ++n) check_softmax(3, n);
  check_softmax(1, 300'001); // one row for several threads
  check_softmax(7, 140'000);
  check_softmax(3000, 100);
  check_softmax(0, 5);
}

TEST_CASE("a mean and a variance for each row") {
  const std::int64_t m = 5, n = 1003;
  const auto x = numbers(m, n);
  auto [mean, spread] = run_variance(x);
  for (std::int64_t r = 0; r < m; ++r) {
    double sum = 0, squares = 0;
    for (std::int64_t c = 0; c < n; ++c) sum += static_cast<double>(x(r, c));
    for (std::int64_t c = 0; c < n; ++c) squares += std::pow(static_cast<double>(x(r, c)) - sum / n, 2);
    CHECK(mean(r) == Approx(sum / n).margin(1e-6));
    CHECK(spread(r) == Approx(squares / n).epsilon(1e-5));
  }
}

TEST_CASE("values of several types are remembered from pass to pass") {
  constexpr auto above = plx::jit([](auto x) {
    auto is_above = x > plx::mean(x, 1, plx::keepdims);
    auto wide = plx::exp(plx::astype<double>(x));
    auto share = plx::sum(plx::where(is_above, wide, 0.), 1, plx::keepdims);
    return plx::where(is_above, wide / share, wide);
  });
  // rows whose end is inside of a register, in memory that is inside or outside of the stack
  for (std::int64_t n : {9, 12, 909, 1021, 8197, 16388}) {
    const auto x = numbers(2, n);
    const auto found = above(x);
    double worst = 0;
    for (int r = 0; r < 2; ++r) {
      double mean = 0, share = 0;
      for (int c = 0; c < n; ++c) mean += static_cast<double>(x(r, c)) / static_cast<double>(n);
      auto wide = [&](int c) { return std::exp(static_cast<double>(x(r, c))); };
      for (int c = 0; c < n; ++c) share += static_cast<double>(x(r, c)) > mean ? wide(c) : 0;
      for (int c = 0; c < n; ++c) {
        const double expected = static_cast<double>(x(r, c)) > mean ? wide(c) / share : wide(c);
        worst = std::max(worst, std::abs(found(r, c) / expected - 1));
      }
    }
    INFO(n);
    CHECK(worst < 1e-12);
  }
}

TEST_CASE("rows of nothing") {
  auto [mean, most] =
      plx::jit([](auto x) { return std::pair{plx::sum(x, 1) + 1.f, plx::sum(x * x, 1)}; })(numbers(3, 0));
  for (int r = 0; r < 3; ++r) CHECK((mean(r) == 1 && most(r) == 0));
}

TEST_CASE("what a loop makes of a row sweep is of no use to that group itself") {
  // both sums are of one depth if the loop between them is not seen
  constexpr auto around_a_loop = plx::jit([](auto x) {
    auto e = plx::exp(x - plx::max(x, 1, plx::keepdims));
    auto half = [](auto v, auto) { return std::pair{v * 0.5f, plx::none}; };
    auto quarter = plx::scan(half, plx::sum(e, 1, plx::keepdims), plx::none, plx::length<2>).first;
    return plx::sum(e * quarter, 1);
  });
  const auto x = numbers(2, 19);
  const auto found = around_a_loop(x);
  for (int r = 0; r < 2; ++r) {
    double most = -1e9, sum = 0;
    for (int c = 0; c < 19; ++c) most = std::max(most, static_cast<double>(x(r, c)));
    for (int c = 0; c < 19; ++c) sum += std::exp(static_cast<double>(x(r, c)) - most);
    CHECK(found(r) == Approx(sum * sum / 4).epsilon(1e-5));
  }
}

TEST_CASE("the gradient of a row sweep is that of finite differences") {
  constexpr auto loss = [](auto x) { return plx::sum(softmax(x) * plx::tanh(x)); };
  const auto x = numbers(2, 19);
  const auto found = plx::grad(loss)(x);
  std::vector<double> values(38);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(element(i));
  constexpr auto in_double = plx::jit(loss);
  for (std::size_t i = 0; i < values.size(); ++i) {
    auto at = [&](double step) {
      std::vector<double> moved = values;
      moved[i] += step;
      return static_cast<double>(in_double(plx::array<double, 2>({2, 19}, moved))());
    };
    CHECK(found.values()[i] == Approx((at(1e-4) - at(-1e-4)) / 2e-4).margin(1e-5));
  }
}

/// Plain loops: each row's softmax, and its normalisation with a scale and a shift for each column.
std::vector<double> softmax_of(const std::vector<double>& x, std::size_t columns) {
  std::vector<double> y(x.size());
  for (std::size_t first = 0; first < x.size(); first += columns) {
    double sum = 0;
    for (std::size_t c = first; c < first + columns; ++c) sum += y[c] = std::exp(x[c]);
    for (std::size_t c = first; c < first + columns; ++c) y[c] /= sum;
  }
  return y;
}
std::vector<double> layernorm_of(const std::vector<double>& x, const std::vector<double>& scale,
                                 const std::vector<double>& shift) {
  const std::size_t columns = scale.size();
  std::vector<double> y(x.size());
  for (std::size_t first = 0; first < x.size(); first += columns) {
    double mean = 0, square = 0;
    for (std::size_t c = 0; c < columns; ++c) mean += x[first + c] / static_cast<double>(columns);
    for (std::size_t c = 0; c < columns; ++c)
      square += (x[first + c] - mean) * (x[first + c] - mean) / static_cast<double>(columns);
    for (std::size_t c = 0; c < columns; ++c)
      y[first + c] = (x[first + c] - mean) / std::sqrt(square + 1e-5) * scale[c] + shift[c];
  }
  return y;
}
/// Checks a gradient of the sum that weighs what `function` makes of numbers, by how these move it.
template <class Found>
void check_slopes(const Found& found, std::vector<double> at, const plx::array<double, 2>& weight,
                  const std::function<std::vector<double>(const std::vector<double>&)>& function) {
  auto weighed = [&] {
    const std::vector<double> y = function(at);
    double sum = 0;
    for (std::size_t i = 0; i < y.size(); ++i) sum += y[i] * weight.values()[i];
    return sum;
  };
  for (std::size_t i = 0; i < at.size(); ++i) {
    const double before = at[i];
    at[i] = before + 1e-5;
    const double above = weighed();
    at[i] = before - 1e-5;
    const double slope = (above - weighed()) / 2e-5;
    at[i] = before;
    CHECK(found.values()[i] == Approx(slope).margin(1e-6).epsilon(1e-6));
  }
}

TEST_CASE("where a product lies between, the way back makes again what the way forward did not keep") {
  constexpr auto both_ways = plx::jit([](auto x, auto scale, auto shift, auto w) {
    auto [shares, back_to_x] = plx::vjp([](auto v) { return plx::softmax(v, 1); }, x);
    auto [normal, back] = plx::vjp(layernorm, x, scale, shift);
    auto by_shares = plx::dot(shares, w), by_normal = plx::dot(normal, w);
    return std::tuple{by_shares, back_to_x(by_shares), by_normal, back(by_normal)};
  });
  const std::int64_t rows = 5, columns = 19;
  auto doubles = [](std::int64_t m, std::int64_t n, double phase) {
    std::vector<double> values(static_cast<std::size_t>(m * n));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = 1.5 * std::sin(0.7 * static_cast<double>(i) + phase);
    return values;
  };
  const std::vector<double> x = doubles(rows, columns, 0), scale = doubles(1, columns, 1),
                            shift = doubles(1, columns, 2);
  using matrix_of_doubles = plx::array<double, 2>;
  using row_of_doubles = plx::array<double, 1>;
  const auto [by_shares, share_slopes, by_normal, normal_slopes] =
      both_ways(matrix_of_doubles({rows, columns}, x), row_of_doubles({columns}, scale),
                row_of_doubles({columns}, shift), matrix_of_doubles({columns, columns}, doubles(columns, columns, 3)));
  check_slopes(std::get<0>(share_slopes), x, by_shares,
               [&](const std::vector<double>& at) { return softmax_of(at, 19); });
  check_slopes(std::get<0>(normal_slopes), x, by_normal,
               [&](const std::vector<double>& at) { return layernorm_of(at, scale, shift); });
  check_slopes(std::get<1>(normal_slopes), scale, by_normal,
               [&](const std::vector<double>& at) { return layernorm_of(x, at, shift); });
  check_slopes(std::get<2>(normal_slopes), shift, by_normal,
               [&](const std::vector<double>& at) { return layernorm_of(x, scale, at); });
}

} // namespace row_sweeps_test

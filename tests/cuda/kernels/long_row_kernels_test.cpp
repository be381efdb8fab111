// The device's row kernels compute what the host's do: rows that are longer than what threads hold in registers.
#include "cuda/kernels/row_programs.hpp"
#include "cuda/kernels/simulated_kernels.hpp"
#include "support/test.hpp"

#include <parallax/parallax.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

namespace long_row_kernels_test {

namespace plx = parallax;
using simulated::compare;
using simulated::numbers;
using namespace row_programs;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

std::vector<float> noise(std::size_t count) {
  std::mt19937 engine(7);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& x : values) x = normal(engine);
  return values;
}

/// Rows that are longer than what a block holds, some of whose parts have no finite elements.
std::vector<std::vector<float>> special_rows() {
  const std::size_t n = 20011;
  std::vector<std::vector<float>> rows(9, noise(n));
  for (float& x : rows[1]) x = x * 30 + 1000;
  for (std::size_t i = 0; i < n; ++i) rows[2][i] = static_cast<float>(i) * 0.01f; // the largest comes last
  rows[3].assign(n, -infinity);
  for (std::size_t i = 0; i + 1 < n; ++i) rows[4][i] = -infinity;
  rows[5][15000] = infinity;
  rows[6][0] = rows[6][n - 1] = infinity;
  rows[7][12345] = not_a_number;
  rows[8][1] = not_a_number, rows[8][2] = infinity, rows[8][n - 1] = -infinity;
  return rows;
}
/// Relative; of what is not finite, 0 only for the same.
double difference(float found, double expected) {
  if (std::isnan(found)) return std::isnan(expected) ? 0 : std::numeric_limits<double>::infinity();
  const double x = static_cast<double>(found);
  if (std::isnan(expected) || std::isinf(expected))
    return x == expected || (std::isnan(x) && std::isnan(expected)) ? 0 : infinity;
  const double least = 1e-37; // numbers below have fewer digits
  return std::abs(x - expected) / std::max(std::abs(expected), least);
}

/// Long rows on few multiprocessors, on many, and in the shared memory of a cluster and of one block.
const simulated::setup setups[] = {{.multiprocessors = 1},
                                   {.multiprocessors = 132},
                                   {.multiprocessors = 1, .shared_bytes = 32 << 10, .largest_cluster = 4},
                                   {.multiprocessors = 1, .shared_bytes = 99 << 10}};

} // namespace

TEST_CASE("softmax and logsumexp of long rows, element by element") {
  for (const simulated::setup& chosen : setups)
    for (const auto& row : special_rows()) {
      const std::size_t n = row.size();
      double largest = -infinity, sum = 0;
      for (float x : row) largest = x > largest || x != x ? static_cast<double>(x) : largest;
      for (float x : row) sum += std::exp(static_cast<double>(x) - largest);
      simulated::api::current = chosen;
      const plx::array<float, 2> x({1, static_cast<std::int64_t>(n)}, row);
      const auto found = simulated::call(softmax, x), wide = simulated::call(library_softmax, x);
      double worst = 0;
      for (std::size_t i = 0; i < n; ++i) {
        const double expected = std::exp(static_cast<double>(row[i]) - largest) / sum;
        worst = std::max({worst, difference(found.values()[i], expected), difference(wide.values()[i], expected)});
      }
      const double total = std::isfinite(largest) ? largest + std::log(sum) : largest;
      INFO("first " << row[0] << ", last " << row[n - 1] << ", sum " << sum);
      CHECK(worst < 3e-6);
      CHECK(difference(simulated::call(logsumexp, x)(0), total) < 1e-6);
    }
}

TEST_CASE("means and variances of long rows, around large offsets") {
  for (const simulated::setup& chosen : setups)
    for (auto [offset, scale] : {std::pair{0., 1.}, {1e4, 1.}, {1e4, 0.02}, {-3e6, 2.}, {1e-10, 1e-12}, {0., 1e15}}) {
      const std::size_t n = 20011;
      std::vector<float> row = noise(n);
      for (float& x : row) x = static_cast<float>(offset + scale * static_cast<double>(x));
      row[0] = static_cast<float>(offset + 50 * scale); // is far from the others
      double mean = 0, squares = 0;
      for (float x : row) mean += static_cast<double>(x) / static_cast<double>(n);
      for (float x : row) squares += (static_cast<double>(x) - mean) * (static_cast<double>(x) - mean);
      simulated::api::current = chosen;
      const plx::array<float, 2> x({1, static_cast<std::int64_t>(n)}, row);
      const auto found = simulated::call(spread, x);
      // the mean is rounded before distances from it are taken
      const double rounding = std::abs(mean) * 3e-7;
      INFO("offset " << offset << ", scale " << scale);
      CHECK(std::abs(static_cast<double>(std::get<0>(found)(0)) - mean) <= rounding + 1e-6 * scale);
      const double expected = squares / static_cast<double>(n);
      CHECK(std::abs(static_cast<double>(std::get<1>(found)(0)) - expected) <= rounding * rounding + 2e-6 * expected);
    }
}

TEST_CASE("variances of long rows with infinite elements or NaN are NaN, and of equal ones zero") {
  for (float special : {infinity, -infinity, not_a_number})
    for (std::size_t at : {std::size_t{0}, std::size_t{7000}, std::size_t{20010}}) {
      std::vector<float> row = noise(20011);
      row[at] = special;
      simulated::api::current = {};
      const auto found = simulated::call(spread, plx::array<float, 2>({1, 20011}, row));
      INFO(special << " at " << at);
      CHECK(std::isnan(std::get<1>(found)(0)));
    }
  const auto found = simulated::call(spread, plx::array<float, 2>({1, 16384}, std::vector<float>(16384, 0.25f)));
  CHECK(std::get<1>(found)(0) == 0);
}

TEST_CASE("long rows in double precision and of 16 bits, whose sums have 32") {
  compare(softmax, 1e-12, numbers<double, 2>({2, 20000}));
  compare(spread, 1e-12, numbers<double, 2>({2, 20000}));
  compare(softmax, 1e-3, numbers<plx::float16, 2>({2, 20000}));
  compare(logsumexp, 1e-3, numbers<plx::bfloat16, 2>({2, 20000}));
  compare(spread, 1e-3, numbers<plx::float16, 2>({2, 20000}));
  CHECK(launches(softmax, numbers<plx::float16, 2>({2, 40000})) == 2);
  CHECK(launches(spread, numbers<plx::float16, 2>({2, 40000})) == 2);
}

TEST_CASE("long rows that begin where no vectors do, together and apart") {
  compare(softmax, 1e-5, numbers<float, 2>({3, 17001}));
  compare(softmax, 1e-3, numbers<plx::bfloat16, 2>({3, 17001}));
  static constexpr auto apart = plx::jit([](auto x, auto y) {
    auto z = plx::slice_in_dim(x, 1, plx::none, 1, 1) + y;
    return z - plx::max(z, 1, plx::keepdims);
  });
  static constexpr auto together = plx::jit([](auto x) {
    auto z = plx::slice_in_dim(x, 1, plx::none, 1, 1);
    return z - plx::max(z, 1, plx::keepdims);
  });
  for (std::int64_t n : {17001, 17004}) {
    compare(apart, 1e-6, numbers<float, 2>({2, n}), numbers<float, 2>({2, n - 1}, 2));
    compare(together, 1e-6, numbers<float, 2>({2, n}));
  }
}

TEST_CASE("gradients of long rows") {
  static constexpr auto of_softmax =
      plx::jit(plx::grad([](auto x, auto y) { return plx::sum(plx::softmax(x) * plx::tanh(y)); }));
  static constexpr auto of_spread =
      plx::jit(plx::grad([](auto x) { return plx::sum(plx::var(x, 1) + plx::logsumexp(x, 1)); }));
  compare(of_softmax, 1e-6, numbers<float, 2>({2, 17000}), numbers<float, 2>({2, 17000}, 2));
  compare(of_spread, 1e-6, numbers<float, 2>({2, 17000}));
}

TEST_CASE("sums that look like centred ones, and one around a multiple of the mean") {
  // around another row's maximum, around what is no mean, of third powers
  static constexpr auto others = plx::jit([](auto x, auto y) {
    auto d = x - plx::mean(x, 1, plx::keepdims);
    return std::tuple{plx::sum(plx::exp(x - plx::max(y, 1, plx::keepdims)), 1), //
                      plx::sum(plx::square(x - plx::min(x, 1, plx::keepdims)), 1), plx::sum(d * d * d, 1),
                      plx::sum(plx::square(x - plx::sum(x, 1, plx::keepdims) * 0.01f), 1)};
  });
  const auto y = numbers<float, 2>({2, 17000}, 2);
  std::vector<float> values = noise(2 * 17000);
  compare(others, 1e-4, plx::array<float, 2>({2, 17000}, values), y);
  values[400] = infinity;
  values[17400] = -infinity;
  compare(others, 1e-4, plx::array<float, 2>({2, 17000}, values), y);
}

} // namespace long_row_kernels_test

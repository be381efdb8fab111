// Programs as users write them first, with masks, positions and tables made of arange: a network, Poisson's equation,
// the pairs of a string, means of bins. Beside plain loops.
#include "ops/reference.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

namespace users_masks_test {

namespace {

namespace plx = parallax;
using reference::table;

// A network of four layers of masked attention. Written out, and as a scan over the layers.

constexpr auto positions = [](auto n, auto d) {
  return plx::cos(plx::expand_dims(plx::arange(n), 1) * plx::exp(-0.5 * plx::arange(d)));
};
constexpr auto network = [](auto words, auto weights) {
  auto n = words.shape(0);
  auto d = words.shape(1);
  auto causal = plx::expand_dims(plx::arange(n), 1) >= plx::arange(n);
  auto h = words + positions(n, d);
  auto total = plx::zeros({n, d});
  for (int l = 0; l < 4; ++l) {
    auto scores = plx::where(causal, plx::dot(h, plx::transpose(h)) / plx::sqrt(plx::astype<double>(d)), -1e9);
    auto seen = plx::dot(plx::softmax(scores, 1), h);
    h = h + plx::tanh(plx::dot(seen * plx::array<double, 1>{1, 0, 2}, weights[l]));
    total = total + h;
  }
  return plx::sum(total[n - 1]) / 4;
};
constexpr auto network_by_scan = [](auto words, auto weights) {
  auto n = words.shape(0);
  auto d = words.shape(1);
  auto hidden = plx::where(plx::arange(n) <= plx::expand_dims(plx::arange(n), 1), 0., -1e9);
  auto layer = [&](auto carry, auto w) {
    auto [h, total] = carry;
    auto scores = plx::dot(h, plx::transpose(h)) / plx::sqrt(plx::astype<double>(d)) + hidden;
    h = h + plx::tanh(plx::dot(plx::dot(plx::softmax(scores, 1), h) * plx::array<double, 1>{1, 0, 2}, w));
    return std::pair{std::pair{h, total + h}, plx::none};
  };
  auto start = std::pair{words + positions(n, d), plx::zeros<double>({n, d})};
  return plx::sum(plx::scan(layer, start, weights).first.second[n - 1]) / 4;
};
constexpr auto network_and_slope = [](auto words, auto weights) {
  return std::pair{network(words, weights), plx::grad(network_by_scan, plx::argnums<1>)(words, weights)};
};

double expected_network(const table& words, const table& weights) {
  const std::int64_t n = words.shape[0], d = words.shape[1];
  const double keep[] = {1, 0, 2};
  table h = reference::tabulate(words.shape, [&](const reference::coordinates& at) {
    return words[at] + std::cos(static_cast<double>(at[0]) * std::exp(-0.5 * static_cast<double>(at[1])));
  });
  double total = 0;
  for (std::int64_t l = 0; l < 4; ++l) {
    const table before = h;
    for (std::int64_t i = 0; i < n; ++i) {
      std::vector<double> seen(static_cast<std::size_t>(d));
      double all = 0;
      for (std::int64_t j = 0; j <= i; ++j) {
        double score = 0;
        for (std::int64_t k = 0; k < d; ++k) score += before[{i, k}] * before[{j, k}];
        const double weight = std::exp(score / std::sqrt(static_cast<double>(d)));
        all += weight;
        for (std::size_t k = 0; k < 3; ++k) seen[k] += weight * keep[k] * before[{j, static_cast<std::int64_t>(k)}];
      }
      for (std::int64_t k = 0; k < d; ++k) {
        double sum = 0;
        for (std::int64_t m = 0; m < d; ++m) sum += seen[static_cast<std::size_t>(m)] / all * weights[{l, m, k}];
        h[{i, k}] += std::tanh(sum);
      }
    }
    for (std::int64_t k = 0; k < d; ++k) total += h[{n - 1, k}];
  }
  return total / 4;
}

// Poisson's equation on a square grid whose border is 0: by sines, and by Jacobi's iteration.

constexpr auto by_sines = [](auto f) {
  auto n = f.shape(0);
  auto i = plx::arange(n) + 1;
  auto sines = plx::sin(plx::expand_dims(i, 1) * i * (3.141592653589793 / (n + 1)));
  auto slopes = 2 - 2 * plx::cos(i * 3.141592653589793 / (n + 1));
  auto g = plx::dot(sines, plx::dot(f, sines)) / (plx::expand_dims(slopes, 1) + slopes);
  return plx::dot(sines, plx::dot(g, sines)) * plx::square(2. / (n + 1));
};
constexpr auto by_jacobi = [](auto f, auto rounds) {
  auto n = f.shape(0);
  auto i = plx::arange(n);
  auto row = plx::expand_dims(i, 1);
  auto sweep = [&](auto, auto u) {
    auto down = plx::where(row < n - 1, u[(i + 1) % n], 0);
    auto up = plx::where(row > 0, u[i - 1], 0);
    auto right = plx::where(i < n - 1, plx::take(u, i + 1, 1, plx::mode::clip), 0);
    auto left = plx::where(i > 0, plx::take(u, i - 1, 1), 0);
    return (f + down + up + left + right) / 4;
  };
  return plx::fori_loop(0, rounds - 1, sweep, plx::zeros<double>({n, n}));
};
constexpr auto poisson = [](auto f, auto rounds) {
  auto n = f.shape(0);
  return std::tuple{by_sines(f), by_jacobi(f, rounds), by_sines(f)[n - 1 - plx::arange(n)]};
};

// The most pairs of a string's letters (Nussinov's), and the means of bins (azimint): both from NPBench.

constexpr auto pairs = [](auto bases) {
  auto n = bases.shape(0);
  auto fill = [&](auto k, auto t) {
    auto i = n - 1 - k;
    auto cell = [&](auto j, auto u) {
      auto pair = plx::where((bases[i] + bases[j] == 3) & (i < j - 1), 1, 0);
      auto inside = plx::where(j > i + 1, u[i + 1][j - 1] + pair, 0);
      auto parts =
          plx::map([&](auto m) { return plx::where((m > i) & (m < j), u[i][m] + u[m + 1][j], 0); }, plx::arange(n));
      auto best = plx::maximum(plx::maximum(u[i][j - 1], u[i + 1][j]), plx::maximum(inside, plx::max(parts)));
      return u.at(i, j).set(plx::where(j > i, best, u[i][j]));
    };
    return plx::fori_loop(0, n, cell, t);
  };
  return plx::fori_loop(0, n, fill, plx::zeros<int>({n, n}));
};
constexpr auto bins = [](auto data, auto radius) {
  auto widest = plx::max(radius);
  auto mean = [&](auto i) {
    auto inside = (i * widest / 4 <= radius) & (radius < (i + 1) * widest / 4);
    return plx::sum(plx::where(inside, data, 0)) / plx::sum(plx::where(inside, 1, 0));
  };
  return plx::map(mean, plx::arange<double>(4));
};
constexpr auto pairs_and_bins = [](auto bases, auto data, auto radius) {
  return std::pair{pairs(bases), bins(data, radius)};
};

} // namespace

TEST_CASE("a network of four layers has its mask, positions and weights of words from constants") {
  const table words = reference::numbers({5, 3}, -1, 1), weights = reference::numbers({4, 3, 3}, -1, 1, 0.3);
  auto [value, slope] =
      plx::jit(network_and_slope)(reference::array_of<double, 2>(words), reference::array_of<double, 3>(weights));
  CHECK(value.item() == Approx(expected_network(words, weights)).epsilon(1e-12));
  auto of_weights = [&](const table& moved) { return expected_network(words, moved); };
  reference::compare(slope, reference::finite_difference_gradient(of_weights, weights), 1e-7, 1e-7);
}

TEST_CASE("Poisson's equation is solved by a matrix of sines of arange, and by a loop that begins with zeros") {
  const table f = reference::numbers({5, 5}, -1, 1);
  auto [exact, iterated, mirrored] = plx::jit(poisson)(reference::array_of<double, 2>(f), plx::count(13));
  auto at = [](const table& u, std::int64_t i, std::int64_t j) {
    return i < 0 || j < 0 || i > 4 || j > 4 ? 0. : u[{i, j}];
  };
  auto neighbours = [&](const table& u, std::int64_t i, std::int64_t j) {
    return at(u, i - 1, j) + at(u, i + 1, j) + at(u, i, j - 1) + at(u, i, j + 1);
  };
  const table u = reference::table_of(exact);
  reference::compare(reference::tabulate(f.shape, [&](auto i) { return 4 * u[i] - neighbours(u, i[0], i[1]); }), f, 0,
                     1e-13);
  reference::compare(mirrored, reference::tabulate(f.shape, [&](auto i) { return u[{4 - i[0], i[1]}]; }), 0, 1e-15);
  table swept{f.shape, std::vector<double>(25)};
  for (int round = 0; round < 12; ++round)
    swept = reference::tabulate(f.shape, [&](auto i) { return (f[i] + neighbours(swept, i[0], i[1])) / 4; });
  reference::compare(iterated, swept, 0, 1e-14);
}

TEST_CASE("loops of loops fill tables that begin as zeros, and maps go over arange") {
  const plx::array<std::int32_t, 1> bases{0, 1, 2, 3, 0, 3, 2, 1, 1, 2};
  const table data = reference::numbers({20}, -1, 1), radius = reference::numbers({20}, 0, 1, 0.3);
  auto [most, means] =
      plx::jit(pairs_and_bins)(bases, reference::array_of<double, 1>(data), reference::array_of<double, 1>(radius));
  int expected[11][11] = {};
  for (int i = 9; i >= 0; --i)
    for (int j = i + 1; j < 10; ++j) {
      int& best = expected[i][j];
      best = std::max(expected[i][j - 1], expected[i + 1][j]);
      best = std::max(best, expected[i + 1][j - 1] + (bases(i) + bases(j) == 3 && i < j - 1 ? 1 : 0));
      for (int m = i + 1; m < j; ++m) best = std::max(best, expected[i][m] + expected[m + 1][j]);
    }
  for (int i = 0; i < 10; ++i)
    for (int j = 0; j < 10; ++j) CHECK(most(i, j) == expected[i][j]);
  const double widest = *std::max_element(radius.values.begin(), radius.values.end());
  for (int bin = 0; bin < 4; ++bin) {
    double sum = 0, count = 0;
    for (std::size_t k = 0; k < 20; ++k)
      if (bin * widest / 4 <= radius.values[k] && radius.values[k] < (bin + 1) * widest / 4)
        sum += data.values[k], ++count;
    CHECK(means(bin) == Approx(sum / count).epsilon(1e-13));
  }
}

} // namespace users_masks_test

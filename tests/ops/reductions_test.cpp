// What is built of reductions: mean, variance, logsumexp, softmax, any, all.
#include "ops/reference.hpp"

namespace reductions_test {

namespace {

namespace plx = parallax;
using reference::coordinates;
using reference::table;

/// `f` of the vectors along an axis of a matrix: one number each.
template <class F> table along(const table& x, std::size_t axis, F f) {
  std::size_t other = 1 - axis;
  return reference::tabulate({x.shape[other]}, [&](const coordinates& at) {
    std::vector<double> line;
    for (std::int64_t i = 0; i < x.shape[axis]; ++i) line.push_back(axis == 0 ? x[{i, at[0]}] : x[{at[0], i}]);
    return f(line);
  });
}
double mean_of(const std::vector<double>& v) {
  double sum = 0;
  for (double x : v) sum += x;
  return sum / static_cast<double>(v.size());
}
double variance_of(const std::vector<double>& v) {
  double centre = mean_of(v), sum = 0;
  for (double x : v) sum += (x - centre) * (x - centre);
  return sum / static_cast<double>(v.size());
}
double logsumexp_of(const std::vector<double>& v) {
  double largest = -INFINITY, sum = 0;
  for (double x : v) largest = std::max(largest, x);
  if (std::isinf(largest)) return largest;
  for (double x : v) sum += std::exp(x - largest);
  return std::log(sum) + largest;
}

constexpr auto statistics = [](auto x) {
  return std::tuple(plx::mean(x, 0), plx::mean(x, -1), plx::mean(x), plx::var(x, 0), plx::var(x, 1), plx::var(x),
                    plx::logsumexp(x, 0), plx::logsumexp(x, -1), plx::logsumexp(x), plx::softmax(x, 0),
                    plx::softmax(x));
};

template <class T> void check_statistics(const coordinates& shape, double rtol, double atol) {
  auto x = reference::array_of<T, 2>(reference::numbers(shape, -3, 3));
  table t = reference::table_of(x);
  auto number = [&](auto f) { return table{{}, {f(t.values)}}; };
  table columns = along(t, 0, logsumexp_of), rows = along(t, 1, logsumexp_of);
  std::vector<table> expected{
      along(t, 0, mean_of),
      along(t, 1, mean_of),
      number(mean_of),
      along(t, 0, variance_of),
      along(t, 1, variance_of),
      number(variance_of),
      columns,
      rows,
      number(logsumexp_of),
      reference::tabulate(shape, [&](const coordinates& at) { return std::exp(t[at] - columns[{at[1]}]); }),
      reference::tabulate(shape, [&](const coordinates& at) { return std::exp(t[at] - rows[{at[0]}]); })};
  std::vector<table> actual = reference::tables_of(plx::jit(statistics)(x));
  for (std::size_t k = 0; k < expected.size(); ++k) {
    INFO("result " << k << " of " << shape[0] << " x " << shape[1]);
    compare(actual[k], expected[k], rtol, atol);
  }
}

} // namespace

TEST_CASE("mean, var, logsumexp and softmax over rows, columns and all") {
  for (const coordinates& shape : {coordinates{1, 1}, coordinates{3, 4}, coordinates{4, 15}, coordinates{17, 16},
                                   coordinates{2, 1000}, coordinates{300, 5}}) {
    check_statistics<double>(shape, 1e-13, 1e-15);
    check_statistics<float>(shape, 3e-6, 1e-6);
  }
}

TEST_CASE("gradients and batches of mean, var, logsumexp and softmax") {
  auto x = reference::array_of<double, 2>(reference::numbers({3, 4}, -1, 1));
  reference::check_gradient(statistics, x);
  reference::check_batching<0>(statistics, x);
  reference::check_batching<2>(statistics, x);
}

TEST_CASE("static extents give the same statistics") {
  auto x = reference::array_of<plx::array<double, plx::extents<3, plx::dyn>>>(reference::numbers({3, 4}, -1, 1));
  plx::array<double, 2> same = x;
  std::vector<table> expected = reference::tables_of(plx::jit(statistics)(same));
  std::vector<table> actual = reference::tables_of(plx::jit(statistics)(x));
  for (std::size_t k = 0; k < expected.size(); ++k) compare(actual[k], expected[k], 1e-15);
  reference::check_gradient(statistics, x);
}

TEST_CASE("logsumexp and softmax neither overflow nor turn infinities into NaN") {
  auto both = plx::jit([](auto x) { return std::tuple(plx::logsumexp(x, 1), plx::softmax(x, 1)); });
  auto [sums, shares] = both(plx::array<float, 2>{{1000, 1000}, {-1000, -1000}, {-INFINITY, 0}});
  CHECK(sums(0) == Approx(1000 + std::log(2.)));
  CHECK(sums(1) == Approx(-1000 + std::log(2.)));
  CHECK(sums(2) == 0);
  CHECK(shares.to_vector() == std::vector<float>{0.5f, 0.5f, 0.5f, 0.5f, 0, 1});
  auto [nothing, _] = both(plx::array<float, 2>{{-INFINITY, -INFINITY}, {INFINITY, 0}});
  CHECK(nothing(0) == -INFINITY);
  CHECK(nothing(1) == INFINITY);
}

TEST_CASE("any and all, over axes, of truth values and numbers") {
  auto both = plx::jit([](auto x) {
    return std::tuple(plx::any(x, 0), plx::all(x, 0), plx::any(x, -1), plx::all(x, 1), plx::any(x), plx::all(x),
                      plx::any(x, {0, 1}), plx::all(x, 0, plx::keepdims));
  });
  const std::vector<double> expected[] = {{1, 1, 1}, {0, 1, 0}, {1, 1}, {0, 0}, {1}, {0}, {1}, {0, 1, 0}};
  auto check = [&](const auto& x) {
    std::vector<table> actual = reference::tables_of(both(x));
    for (std::size_t k = 0; k < std::size(expected); ++k) CHECK(actual[k].values == expected[k]);
  };
  check(plx::array<bool, 2>{{true, true, false}, {false, true, true}});
  check(plx::array<float, 2>{{0.5f, -1, 0}, {0, NAN, 3}});
}

TEST_CASE("the mean of integers and truth values is float32") {
  auto mean = plx::jit([](auto x) { return std::tuple(plx::mean(x), plx::var(x)); });
  auto [centre, spread] = mean(plx::array<int, 1>{1, 2, 6});
  static_assert(std::is_same_v<decltype(centre)::value_type, float>);
  CHECK(centre.item() == 3.f);
  CHECK(spread.item() == Approx(14. / 3));
  auto [share, _] = mean(plx::array<bool, 1>{true, false, false, true});
  CHECK(share.item() == 0.5f);
}

} // namespace reductions_test

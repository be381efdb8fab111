// Reductions: sum, extremes and their positions, over every choice of axes, with ties, NaN and empty arrays.
#include "ops/reference.hpp"

#include <algorithm>
#include <limits>

namespace reduction_test {

namespace {

namespace plx = parallax;
using reference::coordinates;
using reference::table;

/// `fold` of the elements under the reduced axes, which go.
template <class Fold> table reduced(const table& x, const std::vector<std::size_t>& axes, double start, Fold fold) {
  auto is_reduced = [&](std::size_t i) { return std::ranges::find(axes, i) != axes.end(); };
  coordinates kept;
  for (std::size_t i = 0; i < x.shape.size(); ++i)
    if (!is_reduced(i)) kept.push_back(x.shape[i]);
  table result = reference::tabulate(kept, [&](const coordinates&) { return start; });
  reference::for_each_index(x.shape, [&](const coordinates& at) {
    coordinates to;
    for (std::size_t i = 0; i < at.size(); ++i)
      if (!is_reduced(i)) to.push_back(at[i]);
    result[to] = fold(result[to], x[at]);
  });
  return result;
}
double plus(double a, double b) { return a + b; }
double larger(double a, double b) { return std::isnan(a) || std::isnan(b) ? NAN : std::max(a, b); }
double smaller(double a, double b) { return std::isnan(a) || std::isnan(b) ? NAN : std::min(a, b); }

table sum_of(const table& x, const std::vector<std::size_t>& axes) { return reduced(x, axes, 0, plus); }
table max_of(const table& x, const std::vector<std::size_t>& axes) { return reduced(x, axes, -INFINITY, larger); }
table min_of(const table& x, const std::vector<std::size_t>& axes) { return reduced(x, axes, INFINITY, smaller); }

/// The first position along an axis of what `better` prefers; a NaN is better than all else.
template <class Better> table position_of(const table& x, std::size_t axis, Better better) {
  coordinates shape = x.shape;
  shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
  return reference::tabulate(shape, [&](coordinates at) {
    at.insert(at.begin() + static_cast<std::ptrdiff_t>(axis), 0);
    std::int64_t best = 0;
    double best_value = x[at];
    for (std::int64_t i = 1; i < x.shape[axis]; ++i) {
      at[axis] = i;
      if (!std::isnan(best_value) && (std::isnan(x[at]) || better(x[at], best_value))) best = i, best_value = x[at];
    }
    return best;
  });
}
bool is_larger(double a, double b) { return a > b; }
bool is_smaller(double a, double b) { return a < b; }

constexpr auto sums = [](auto x) {
  return std::tuple(plx::sum(x), plx::sum(x, 0), plx::sum(x, 1), plx::sum(x, -1), plx::sum(x, {0, 1}),
                    plx::sum(x, {0, -1}), plx::sum(x, {2, 1}));
};
constexpr auto extremes = [](auto x) {
  return std::tuple(plx::max(x), plx::max(x, 0), plx::max(x, 1), plx::max(x, -1), plx::max(x, {0, 2}), plx::min(x),
                    plx::min(x, 0), plx::min(x, -2), plx::min(x, 2), plx::min(x, {2, 1}));
};
constexpr auto positions = [](auto x) {
  return std::tuple(plx::argmax(x, 0), plx::argmax(x, 1), plx::argmax(x, -1), plx::argmin(x, 0), plx::argmin(x, -2),
                    plx::argmin(x, 2));
};

template <class T> void check_values(const table& given, double rtol) {
  auto x = reference::array_of<T, 3>(given);
  table t = reference::table_of(x);
  std::vector<table> expected_sums{sum_of(t, {0, 1, 2}), sum_of(t, {0}),    sum_of(t, {1}),   sum_of(t, {2}),
                                   sum_of(t, {0, 1}),    sum_of(t, {0, 2}), sum_of(t, {1, 2})};
  std::vector<table> actual = reference::tables_of(plx::jit(sums)(x));
  for (std::size_t k = 0; k < actual.size(); ++k) {
    INFO("sum " << k << " of " << t.shape[0] << " x " << t.shape[1] << " x " << t.shape[2]);
    compare(actual[k], expected_sums[k], rtol, rtol * static_cast<double>(x.size()));
  }
}

template <class T> void check_extremes(const table& given) {
  auto x = reference::array_of<T, 3>(given);
  table t = reference::table_of(x);
  std::vector<table> expected{max_of(t, {0, 1, 2}), max_of(t, {0}), max_of(t, {1}), max_of(t, {2}), max_of(t, {0, 2}),
                              min_of(t, {0, 1, 2}), min_of(t, {0}), min_of(t, {1}), min_of(t, {2}), min_of(t, {1, 2})};
  std::vector<table> actual = reference::tables_of(plx::jit(extremes)(x));
  for (std::size_t k = 0; k < actual.size(); ++k) {
    INFO("extreme " << k << " of " << t.shape[0] << " x " << t.shape[1] << " x " << t.shape[2]);
    compare(actual[k], expected[k]);
  }
  expected = {position_of(t, 0, is_larger),  position_of(t, 1, is_larger),  position_of(t, 2, is_larger),
              position_of(t, 0, is_smaller), position_of(t, 1, is_smaller), position_of(t, 2, is_smaller)};
  actual = reference::tables_of(plx::jit(positions)(x));
  for (std::size_t k = 0; k < actual.size(); ++k) {
    INFO("position " << k << " of " << t.shape[0] << " x " << t.shape[1] << " x " << t.shape[2]);
    compare(actual[k], expected[k]);
  }
}

const coordinates shapes[] = {{1, 1, 1},   {2, 3, 4},   {3, 1, 17},  {17, 2, 1},
                              {1, 15, 16}, {2, 16, 33}, {5, 100, 3}, {3, 7, 1000}};

} // namespace

TEST_CASE("sums over every choice of axes") {
  for (const coordinates& shape : shapes) {
    check_values<double>(reference::numbers(shape, -1, 1), 1e-15);
    check_values<float>(reference::numbers(shape, -1, 1), 3e-7);
  }
  for (const coordinates& empty : {coordinates{0, 3, 2}, coordinates{3, 0, 2}, coordinates{2, 3, 0}})
    check_values<double>(reference::numbers(empty, -1, 1), 0);
}

TEST_CASE("sums and extremes of few columns and of single ones") {
  // rows that fill registers several at once, with some left over, and rows that do not follow each other
  auto columns = plx::jit([](auto x) {
    auto most = plx::slice(x, {0, 0}, {x.shape(0), x.shape(1) - 1});
    return std::tuple(plx::sum(x, 0), plx::sum(2 * x, 0), plx::max(x, 0), plx::sum(most, 0), plx::sum(plx::exp(x), 1));
  });
  for (std::int64_t rows : {1, 15, 63, 64, 65, 257, 1030, 5003})
    for (std::int64_t width : {1, 2, 3, 7, 16, 20, 33, 63, 64, 65}) {
      INFO(rows << " x " << width);
      table t = reference::numbers({rows, width}, -1, 1);
      auto [totals, doubled, largest, partly, by_row] = columns(reference::array_of<double, 2>(t));
      table expected = sum_of(t, {0});
      compare(reference::table_of(totals), expected, 1e-14, 1e-13);
      compare(reference::table_of(largest), max_of(t, {0}));
      for (std::int64_t j = 0; j + 1 < width; ++j) CHECK(partly(j) == Approx(totals(j)).margin(1e-12));
      for (double& value : expected.values) value *= 2;
      compare(reference::table_of(doubled), expected, 1e-14, 1e-13);
      for (double& value : t.values) value = std::exp(value);
      compare(reference::table_of(by_row), sum_of(t, {1}), 1e-14, 1e-13);
    }
}

TEST_CASE("sums of many float32 numbers keep their digits") {
  auto sum = plx::jit([](auto x) { return plx::sum(x, 0); });
  double exact = static_cast<double>(0.1f);
  for (std::int64_t width : {1, 3, 16, 100}) {
    std::int64_t rows = 3000000 / width;
    auto totals = sum(plx::array<float, 2>::filled({rows, width}, 0.1f));
    for (float total : totals.values())
      CHECK(static_cast<double>(total) == Approx(exact * static_cast<double>(rows)).epsilon(3e-6));
  }
}

TEST_CASE("extremes and their positions over every choice of axes") {
  for (const coordinates& shape : shapes) {
    check_extremes<double>(reference::numbers(shape, -1, 1));
    check_extremes<float>(reference::numbers(shape, -1, 1, 0.2));
    // few distinct values: many ties
    table ties = reference::numbers(shape, 0, 3);
    for (double& value : ties.values) value = std::floor(value);
    check_extremes<double>(ties);
    check_extremes<float>(ties);
    // every seventh element is NaN
    for (std::size_t i = 3; i < ties.values.size(); i += 7) ties.values[i] = NAN;
    check_extremes<double>(ties);
    check_extremes<float>(ties);
    table infinite = reference::numbers(shape, 0, 1);
    for (double& value : infinite.values) value = -INFINITY;
    check_extremes<float>(infinite);
  }
}

TEST_CASE("integer and boolean reductions keep their type, sums of truth values count") {
  auto all = plx::jit([](auto x) { return std::tuple(plx::sum(x), plx::max(x), plx::min(x), plx::argmax(x, 0)); });
  auto [sum, largest, smallest, position] = all(plx::array<int, 1>{3, -7, 2147483647, 2147483647});
  CHECK(sum.item() == static_cast<int>(3u - 7u + 2u * 2147483647u)); // wraps
  CHECK(largest.item() == 2147483647);
  CHECK(smallest.item() == -7);
  CHECK(position.item() == 2);
  auto [count, any, every, first] = all(plx::array<bool, 1>{false, true, true});
  static_assert(std::is_same_v<decltype(count)::value_type, std::int32_t>);
  static_assert(std::is_same_v<decltype(any)::value_type, bool>);
  CHECK(count.item() == 2);
  CHECK(any.item());
  CHECK_FALSE(every.item());
  CHECK(first.item() == 1);
  auto [bytes, most, least, where] = all(plx::array<std::uint8_t, 1>::filled({1000}, 255));
  static_assert(std::is_same_v<decltype(bytes)::value_type, std::uint32_t>);
  CHECK(bytes.item() == 255000u);
  CHECK(most.item() == 255);
  CHECK(least.item() == 255);
  CHECK(where.item() == 0);
  auto [wide, top, bottom, at] = all(plx::array<std::uint64_t, 1>{1, ~std::uint64_t{0}, 5});
  CHECK(wide.item() == 5);
  CHECK(top.item() == ~std::uint64_t{0});
  CHECK(bottom.item() == 1);
  CHECK(at.item() == 1);
}

TEST_CASE("gradients of reductions") {
  auto x = reference::array_of<double, 3>(reference::numbers({2, 3, 4}, -1, 1));
  reference::check_gradient(sums, x);
  reference::check_gradient(extremes, x);
}

TEST_CASE("elements that tie share the gradient of an extreme") {
  auto slopes = plx::jit([](auto x) {
    return std::tuple(plx::grad([](auto y) { return plx::max(y); })(x),
                      plx::grad([](auto y) { return plx::sum(plx::min(y, 1)); })(x));
  });
  auto [largest, smallest] = slopes(plx::array<double, 2>{{1, 4, 4}, {4, 0, 0}});
  double third = 1. / 3;
  CHECK(largest.to_vector() == std::vector<double>{0, third, third, third, 0, 0});
  CHECK(smallest.to_vector() == std::vector<double>{1, 0, 0, 0, 0.5, 0.5});
}

TEST_CASE("reductions are mapped over any axis") {
  auto x = reference::array_of<double, 3>(reference::numbers({2, 3, 5}, -1, 1));
  reference::check_batching<0>(sums, x);
  reference::check_batching<2>(sums, x);
  reference::check_batching<1>(extremes, x);
  reference::check_batching<3>(extremes, x);
  reference::check_batching<0>(positions, x);
  reference::check_batching<2>(positions, x);
}

TEST_CASE("kept axes have extent 1") {
  auto kept = plx::jit([](auto x) {
    return std::tuple(plx::sum(x, 1, plx::keepdims), plx::max(x, {0, -1}, plx::keepdims), plx::min(x, plx::keepdims),
                      plx::argmax(x, 2, plx::keepdims), plx::argmin(x), plx::argmax(x));
  });
  table t = reference::numbers({2, 3, 4}, -1, 1);
  auto [sum, largest, smallest, position, first, last] = kept(reference::array_of<double, 3>(t));
  CHECK(sum.shape() == std::array<std::int64_t, 3>{2, 1, 4});
  CHECK(largest.shape() == std::array<std::int64_t, 3>{1, 3, 1});
  CHECK(smallest.shape() == std::array<std::int64_t, 3>{1, 1, 1});
  CHECK(position.shape() == std::array<std::int64_t, 3>{2, 3, 1});
  CHECK(smallest.item() == *std::ranges::min_element(t.values));
  CHECK(first.item() == std::ranges::min_element(t.values) - t.values.begin());
  CHECK(last.item() == std::ranges::max_element(t.values) - t.values.begin());
}

TEST_CASE("reductions of numbers and of nothing") {
  auto of_number = plx::jit([](auto x) { return std::tuple(plx::sum(x), plx::max(x), plx::argmin(x), plx::mean(x)); });
  auto [sum, largest, position, mean] = of_number(plx::array<double, 0>(2.5));
  CHECK(sum.item() == 2.5);
  CHECK(largest.item() == 2.5);
  CHECK(position.item() == 0);
  CHECK(mean.item() == 2.5);
  auto of_nothing = plx::jit([](auto x) { return std::tuple(plx::sum(x), plx::mean(x), plx::any(x), plx::all(x)); });
  auto [zero, undefined, any, all] = of_nothing(plx::array<float, 1>());
  CHECK(zero.item() == 0);
  CHECK(std::isnan(undefined.item()));
  CHECK_FALSE(any.item());
  CHECK(all.item());
}

} // namespace reduction_test

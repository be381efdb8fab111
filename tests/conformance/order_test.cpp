// Cumulative operations, sorts and what is found by order, beside plain loops: by themselves, under vmap and grad,
// inside a scan and on every device of a pmap.
#include "expected.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

namespace order_test {

namespace {

using namespace conformance;
using vector = std::vector<double>;

struct matrix {
  std::size_t rows, columns;
  vector values;
  double& at(std::size_t i, std::size_t j) { return values[i * columns + j]; }
  double at(std::size_t i, std::size_t j) const { return values[i * columns + j]; }
};
matrix transposed(const matrix& x) {
  matrix result{x.columns, x.rows, vector(x.values.size())};
  for (std::size_t i = 0; i < x.rows; ++i)
    for (std::size_t j = 0; j < x.columns; ++j) result.at(j, i) = x.at(i, j);
  return result;
}
/// `change` of each row.
template <class Change> matrix by_row(matrix x, Change change) {
  for (std::size_t i = 0; i < x.rows; ++i) {
    const auto first = x.values.begin() + static_cast<std::ptrdiff_t>(i * x.columns);
    vector row(first, first + static_cast<std::ptrdiff_t>(x.columns));
    change(row);
    std::copy(row.begin(), row.end(), first);
  }
  return x;
}
template <class Change> matrix by_column(const matrix& x, Change change) {
  return transposed(by_row(transposed(x), change));
}
template <class Combine> auto cumulative(Combine combine) {
  return [combine](vector& row) { std::inclusive_scan(row.begin(), row.end(), row.begin(), combine); };
}
template <class Combine> auto reverse_cumulative(Combine combine) {
  return [combine](vector& row) { std::inclusive_scan(row.rbegin(), row.rend(), row.rbegin(), combine); };
}
double larger(double a, double b) { return std::isnan(a) || std::isnan(b) ? NAN : std::max(a, b); }
double smaller(double a, double b) { return std::isnan(a) || std::isnan(b) ? NAN : std::min(a, b); }
double log_sum(double a, double b) { return std::log(std::exp(a) + std::exp(b)); }

bool is_before(double a, double b) { return a < b || (!std::isnan(a) && std::isnan(b)); }
vector order_of(const vector& row) {
  std::vector<std::size_t> order(row.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return is_before(row[a], row[b]) || (!is_before(row[b], row[a]) && a < b);
  });
  return vector(order.begin(), order.end());
}

/// Numbers with a period that is no extent here; some are equal.
matrix waves(std::size_t rows, std::size_t columns) {
  matrix x{rows, columns, vector(rows * columns)};
  for (std::size_t i = 0; i < x.values.size(); ++i)
    x.values[i] = static_cast<double>(static_cast<int>(i * 37 % 101) - 50) / 40;
  return x;
}
template <class T> plx::array<T, 2> array_of(const matrix& x) {
  auto result =
      plx::array<T, 2>::uninitialised({static_cast<std::int64_t>(x.rows), static_cast<std::int64_t>(x.columns)});
  T* out = result.mutable_data();
  for (std::size_t i = 0; i < x.values.size(); ++i) out[i] = static_cast<T>(x.values[i]);
  return result;
}
template <class Result> void check(const Result& result, const matrix& expected, double tolerance = 1e-11) {
  const auto whole = on_host(result);
  REQUIRE(whole.values().size() == expected.values.size());
  for (std::size_t i = 0; i < expected.values.size(); ++i) {
    const double got = static_cast<double>(whole.values()[i]), wanted = expected.values[i];
    INFO("element " << i << ": " << got << " for " << wanted);
    CHECK((got == wanted || (std::isnan(got) && std::isnan(wanted)) ||
           std::abs(got - wanted) <= tolerance * (1 + std::abs(wanted))));
  }
}

const std::pair<std::size_t, std::size_t> shapes[] = {{1, 1}, {3, 1}, {1, 7}, {2, 33}, {40, 5}, {2, 1100}, {1030, 2}};

constexpr auto sums = [](auto x) {
  return std::tuple(plx::cumsum(x, 0), plx::cumsum(x, 1), plx::cumsum(2 * x, 0, plx::in_reverse),
                    plx::cumsum(x + 1, -1, plx::in_reverse));
};
constexpr auto others = [](auto x) {
  return std::tuple(plx::cumprod(x, 1), plx::cummax(x, 1), plx::cummin(x, 0, plx::in_reverse), plx::cumlogsumexp(x, 1));
};
constexpr auto sorts = [](auto x) {
  return std::tuple(plx::sort(x, 1), plx::sort(x, 0), plx::argsort(x, 1), plx::argsort(x, 0));
};

void check_sorts(const auto& result, const matrix& x) {
  auto ascending = [](vector& row) { std::sort(row.begin(), row.end(), is_before); };
  auto order = [](vector& row) { row = order_of(row); };
  check(std::get<0>(result), by_row(x, ascending));
  check(std::get<1>(result), by_column(x, ascending));
  check(std::get<2>(result), by_row(x, order));
  check(std::get<3>(result), by_column(x, order));
}

} // namespace

TEST_CASE("cumulative sums go along each axis in both directions") {
  for (auto [rows, columns] : shapes) {
    INFO(rows << " x " << columns);
    const matrix x = waves(rows, columns);
    matrix doubled = x, raised = x;
    for (double& value : doubled.values) value *= 2;
    for (double& value : raised.values) value += 1;
    const auto [down, along, up, back] = plx::jit(sums)(array_of<double>(x));
    check(down, by_column(x, cumulative(std::plus<>())));
    check(along, by_row(x, cumulative(std::plus<>())));
    check(up, by_column(doubled, reverse_cumulative(std::plus<>())));
    check(back, by_row(raised, reverse_cumulative(std::plus<>())));
  }
}

TEST_CASE("cumulative products, extremes and sums of exponentials") {
  for (auto [rows, columns] : shapes) {
    INFO(rows << " x " << columns);
    const matrix x = waves(rows, columns);
    const auto [products, largest, smallest, logarithms] = plx::jit(others)(array_of<double>(x));
    check(products, by_row(x, cumulative(std::multiplies<>())));
    check(largest, by_row(x, cumulative(larger)));
    check(smallest, by_column(x, reverse_cumulative(smaller)));
    check(logarithms, by_row(x, cumulative(log_sum)));
  }
}

TEST_CASE("sorts are stable along each axis") {
  for (auto [rows, columns] : shapes) {
    INFO(rows << " x " << columns);
    const matrix x = waves(rows, columns);
    check_sorts(plx::jit(sorts)(array_of<float>(x)), [&] {
      matrix rounded = x;
      for (double& value : rounded.values) value = static_cast<double>(static_cast<float>(value));
      return rounded;
    }());
  }
}

TEST_CASE("the largest elements and their positions") {
  const auto x = plx::array<float, 2>({2, 5}, std::vector<float>{1, 3, -0.0F, 3, 0, 2, NAN, 5, -1, 5});
  const auto [values, positions] = plx::jit([](auto a) { return plx::top_k(a, 3); })(x);
  check(values, {2, 3, {3, 3, 1, NAN, 5, 5}});
  check_equal<std::int32_t>(positions, {2, 3}, {1, 3, 0, 1, 2, 4});
}

TEST_CASE("searching a sorted row") {
  const auto row = plx::array<float, 1>({6}, std::vector<float>{-1, 0, 2, 2, 2, 7});
  const auto wanted = plx::array<float, 2>({2, 4}, std::vector<float>{-2, -0.0F, 2, 8, 7, 1, -1, NAN});
  const auto [left, right] = plx::jit([](auto a, auto v) {
    return std::tuple(plx::searchsorted(a, v), plx::searchsorted(a, v, plx::right_side));
  })(row, wanted);
  check_equal<std::int32_t>(left, {2, 4}, {0, 1, 2, 6, 5, 2, 0, 6});
  check_equal<std::int32_t>(right, {2, 4}, {0, 2, 5, 6, 6, 2, 1, 6});
}

TEST_CASE("sort_key_val: values go with their keys, along any axis and under vmap") {
  // twelve numbers downwards; each row, and each column, of one key that all share
  const plx::array<float, 2> x{{11, 10, 9, 8}, {7, 6, 5, 4}, {3, 2, 1, 0}};
  const plx::array<std::int32_t, 1> values{10, 20, 30, 40};
  const auto [keys, with_them] =
      plx::jit([](auto k, auto v) { return plx::sort_key_val(k, plx::broadcast_to(v, {3, 4}), -1); })(x, values);
  check_close<float>(keys, {3, 4}, {8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3}, 0);
  check_equal<std::int32_t>(with_them, {3, 4}, {40, 30, 20, 10, 40, 30, 20, 10, 40, 30, 20, 10});
  const auto [down, below] = plx::jit([](auto k) { return plx::sort_key_val(k, k * 2.f, 0); })(x);
  check_close<float>(down, {3, 4}, {3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8}, 0);
  check_close<float>(below, {3, 4}, {6, 4, 2, 0, 14, 12, 10, 8, 22, 20, 18, 16}, 0);
  static constexpr auto of_rows = [](auto k, auto v) { return plx::sort_key_val(k, v); };
  const auto [each, shared] = plx::jit(plx::vmap(of_rows, plx::in_axes<0, plx::none>))(x, values);
  check_close<float>(each, {3, 4}, {8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3}, 0);
  check_equal<std::int32_t>(shared, {3, 4}, {40, 30, 20, 10, 40, 30, 20, 10, 40, 30, 20, 10});
  const auto [columns, unmoved] = plx::jit(plx::vmap(of_rows, plx::in_axes<1, 1>))(x, x);
  check_close<float>(columns, {4, 3}, {3, 7, 11, 2, 6, 10, 1, 5, 9, 0, 4, 8}, 0);
  check_close<float>(unmoved, {4, 3}, {3, 7, 11, 2, 6, 10, 1, 5, 9, 0, 4, 8}, 0);
  // equal keys keep their order; the gradient goes with the values
  const plx::array<float, 1> ties{1, 0, 1, 0};
  const auto [sorted, order] = plx::jit(of_rows)(ties, values);
  check_close<float>(sorted, {4}, {0, 0, 1, 1}, 0);
  check_equal<std::int32_t>(order, {4}, {20, 40, 10, 30});
  const plx::array<float, 1> weights{1, 2, 3, 4};
  const auto by_values = plx::jit(plx::grad(
      [](auto v, auto k, auto w) { return plx::dot(w, plx::sort_key_val(k, v).second); }))(ties, ties, weights);
  check_close<float>(by_values, {4}, {3, 1, 4, 2}, 0);
}

TEST_CASE("sorts under vmap, along the first and the last axis of what is mapped") {
  const plx::array<float, 2> x{{11, 10, 9, 8}, {7, 6, 5, 4}, {3, 2, 1, 0}};
  static constexpr auto first = [](auto v) { return plx::sort(v, 0); };
  static constexpr auto last = [](auto v) { return plx::sort(v, -1); };
  const std::vector<double> rows{8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3}, columns{3, 7, 11, 2, 6, 10, 1, 5, 9, 0, 4, 8};
  check_close<float>(plx::jit(plx::vmap(first))(x), {3, 4}, rows, 0);
  check_close<float>(plx::jit(plx::vmap(last))(x), {3, 4}, rows, 0);
  check_close<float>(plx::jit(plx::vmap(first, plx::in_axes<1>))(x), {4, 3}, columns, 0);
  check_close<float>(plx::jit(plx::vmap(last, plx::in_axes<1>))(x), {4, 3}, columns, 0);
}

TEST_CASE("every device of a pmap sums and sorts its own") {
  const matrix x = waves(8, 35);
  const auto [sums_of_each, sorted, order, total] = plx::pmap<"i">([](auto row) {
    auto sum = plx::cumsum(row);
    return std::tuple(sum, plx::sort(row), plx::argsort(row), plx::psum<"i">(plx::sort(sum)));
  })(array_of<double>(x));
  const matrix accumulated = by_row(x, cumulative(std::plus<>()));
  check(sums_of_each, accumulated);
  check(sorted, by_row(x, [](vector& row) { std::sort(row.begin(), row.end()); }));
  check(order, by_row(x, [](vector& row) { row = order_of(row); }));
  const matrix sorted_sums = by_row(accumulated, [](vector& row) { std::sort(row.begin(), row.end()); });
  check(total, by_column(sorted_sums, [](vector& column) {
          std::fill(column.begin(), column.end(), std::accumulate(column.begin(), column.end(), 0.0));
        }));
}

TEST_CASE("gradients on every device of a pmap") {
  const matrix x = waves(8, 9);
  const auto f = [](auto row) {
    auto weights = plx::arange<double>(9);
    return plx::sum(plx::cumprod(row, 0) * weights) + plx::sum(plx::sort(row) * weights);
  };
  const auto gradients = plx::pmap<"i">(plx::grad(f))(array_of<double>(x));
  check(gradients, by_row(x, [](vector& row) {
          const vector places = order_of(row), before = row;
          for (std::size_t k = 0; k < row.size(); ++k) {
            double sum = 0, product = 1; // of all but the k-th
            for (std::size_t i = 0; i < row.size(); ++i) {
              if (i != k) product *= before[i];
              if (i >= k) sum += static_cast<double>(i) * product;
            }
            for (std::size_t i = 0; i < row.size(); ++i)
              if (places[i] == static_cast<double>(k)) sum += static_cast<double>(i);
            row[k] = sum;
          }
        }));
}

TEST_CASE("each round of a scan sums and sorts") {
  const matrix x = waves(4, 20);
  const auto [last, orders] = plx::jit([](auto xs) {
    return plx::scan(
        [](auto carry, auto row) {
          auto next = plx::sort(plx::cumsum(row + carry));
          return std::pair{next, plx::argsort(next * row)};
        },
        plx::zeros<double>({20}), xs);
  })(array_of<double>(x));
  vector carry(20);
  matrix expected{4, 20, {}};
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = 0; j < 20; ++j) carry[j] += x.at(i, j);
    std::partial_sum(carry.begin(), carry.end(), carry.begin());
    std::sort(carry.begin(), carry.end());
    vector row = carry;
    for (std::size_t j = 0; j < 20; ++j) row[j] *= x.at(i, j);
    const vector order = order_of(row);
    expected.values.insert(expected.values.end(), order.begin(), order.end());
  }
  check(last, {1, 20, carry});
  check(orders, expected);
}

} // namespace order_test

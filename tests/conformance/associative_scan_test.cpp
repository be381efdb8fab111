// associative_scan of linear recurrences, beside plain loops: the combination does not commute.
#include "expected.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace associative_scan_test {

namespace {

using namespace conformance;
using vector = std::vector<double>;

// y -> a y + b, one behind the other
constexpr auto compose = [](auto first, auto second) {
  auto [a, b] = first;
  auto [c, d] = second;
  return std::pair{c * a, c * b + d};
};

double a_of(std::int64_t k) { return 0.5 + 0.1 * static_cast<double>(k % 16); }
double b_of(std::int64_t k) { return static_cast<double>(k % 4) - 1.5; }

template <int N> auto filled(double (*f)(std::int64_t)) {
  plx::array<double, plx::extents<N>> result;
  for (std::int64_t k = 0; k < N; ++k) result.mutable_data()[k] = f(k);
  return result;
}

// by loops where there are more elements than that
template <int MostInTree, bool Reverse = false, int Axis = 0> constexpr auto scan_of(auto function, auto elements) {
  return plx::detail::associative_scanned<decltype(function), Axis, Reverse, MostInTree>{function}(elements);
}

template <int N, int MostInTree = 65536> void check_recurrence() {
  const auto a = filled<N>(a_of), b = filled<N>(b_of);
  vector y(N), from_end(N), da(N), db(N);
  double value = 0, behind = 0;
  for (int k = 0; k < N; ++k) y[static_cast<std::size_t>(k)] = value = a_of(k) * value + b_of(k);
  value = 0;
  for (int k = N - 1; k >= 0; --k) {
    const auto at = static_cast<std::size_t>(k);
    from_end[at] = value = a_of(k) * value + b_of(k);
    db[at] = behind = 1 + (k + 1 < N ? a_of(k + 1) * behind : 0);
    da[at] = k > 0 ? db[at] * y[at - 1] : 0;
  }
  static constexpr auto values = [](auto p, auto q) { return scan_of<MostInTree>(compose, std::pair{p, q}).second; };
  static constexpr auto total = [](auto p, auto q) { return plx::sum(values(p, q)); };
  // as one program, which is compiled in less time than three
  static constexpr auto all = [](auto p, auto q) {
    return std::tuple{values(p, q), scan_of<MostInTree, true>(compose, std::pair{p, q}).second,
                      plx::grad(total, plx::argnums<0, 1>)(p, q)};
  };
  INFO(N << " elements");
  auto [forwards, backwards, slopes] = plx::jit(all)(a, b);
  auto [to_a, to_b] = slopes;
  check_close<double>(forwards, {N}, y, 1e-13);
  check_close<double>(backwards, {N}, from_end, 1e-13);
  check_close<double>(to_a, {N}, da, 1e-13, 1e-13);
  check_close<double>(to_b, {N}, db, 1e-13);
}

} // namespace

TEST_CASE("associative_scan: recurrences of any length, from both ends, and their gradients") {
  check_recurrence<1>();
  check_recurrence<2>();
  check_recurrence<6>();
  check_recurrence<7>();
  check_recurrence<16>();
}

TEST_CASE("associative_scan: of many elements in loops, with a rest and without") {
  check_recurrence<5, 3>();
  check_recurrence<36, 3>();
}

TEST_CASE("associative_scan: along any axis, inside vmap and pmap, and called by itself") {
  plx::array<double, plx::extents<2, 5>> x;
  vector sums, columns;
  for (int k = 0; k < 10; ++k) {
    x.mutable_data()[k] = k * k;
    sums.push_back(k * k + (k % 5 == 0 ? 0 : sums.back()));
    columns.push_back(k < 5 ? k * k : k * k + (k - 5) * (k - 5));
  }
  static constexpr auto add = [](auto p, auto q) { return p + q; };
  static constexpr auto prefixes = [](auto v) { return plx::associative_scan(add, v); };
  check_close<double>(plx::associative_scan(add, x), {2, 5}, columns);
  check_close<double>(plx::associative_scan(add, x, plx::axis<-1>), {2, 5}, sums);
  vector from_end(10);
  for (std::size_t k = 10; k-- > 0;) from_end[k] = static_cast<double>(k * k) + (k % 5 == 4 ? 0 : from_end[k + 1]);
  check_close<double>(plx::associative_scan(add, x, plx::axis<1>, plx::in_reverse), {2, 5}, from_end);
  check_close<double>(plx::jit(plx::vmap(prefixes))(x), {2, 5}, sums);
  check_close<double>(plx::pmap(prefixes)(x), {2, 5}, sums);
}

TEST_CASE("associative_scan: matrices by loops, along an axis in the middle, inside vmap and pmap") {
  constexpr int n = 47; // 6 rows of 7, and 5
  plx::array<double, plx::extents<2, n, 2, 2>> x;
  vector forwards, backwards(std::size_t{2 * n * 4});
  for (std::int64_t k = 0; k < x.size(); ++k) x.mutable_data()[k] = 0.5 * static_cast<double>(k % 5) - 0.75;
  auto times = [&](const double* a, const double* b, double* result) {
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 2; ++j) result[2 * i + j] = a[2 * i] * b[j] + a[2 * i + 1] * b[2 + j];
  };
  for (int row = 0; row < 2; ++row) {
    double product[4] = {1, 0, 0, 1}, next[4];
    for (int k = 0; k < n; ++k) {
      times(x.data() + 4 * (row * n + k), product, next);
      std::copy(next, next + 4, product);
      forwards.insert(forwards.end(), next, next + 4);
    }
    double from_end[4] = {1, 0, 0, 1};
    for (int k = n - 1; k >= 0; --k) {
      times(x.data() + 4 * (row * n + k), from_end, next);
      std::copy(next, next + 4, from_end);
      std::copy(next, next + 4, backwards.begin() + 4 * (row * n + k));
    }
  }
  static constexpr auto times_before = [](auto p, auto q) { return plx::matmul(q, p); };
  static constexpr auto products = [](auto v) { return scan_of<3>(times_before, v); };
  static constexpr auto all = [](auto v) {
    return std::tuple{scan_of<3, false, 1>(times_before, v), scan_of<3, true, 1>(times_before, v),
                      plx::vmap(products)(v)};
  };
  auto [in_middle, from_behind, mapped] = plx::jit(all)(x);
  check_close<double>(in_middle, {2, n, 2, 2}, forwards, 1e-12, 1e-12);
  check_close<double>(from_behind, {2, n, 2, 2}, backwards, 1e-12, 1e-12);
  check_close<double>(mapped, {2, n, 2, 2}, forwards, 1e-12, 1e-12);
  check_close<double>(plx::pmap(products)(x), {2, n, 2, 2}, forwards, 1e-12, 1e-12);
}

} // namespace associative_scan_test

// associative_scan of linear recurrences, beside plain loops: the combination does not commute.
#include "expected.hpp"

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

double a_of(std::int64_t k) { return 0.5 + 0.1 * static_cast<double>(k); }
double b_of(std::int64_t k) { return static_cast<double>(k % 4) - 1.5; }

template <int N> auto filled(double (*f)(std::int64_t)) {
  plx::array<double, plx::extents<N>> result;
  for (std::int64_t k = 0; k < N; ++k) result.mutable_data()[k] = f(k);
  return result;
}

template <int N> void check_recurrence() {
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
  static constexpr auto values = [](auto p, auto q) { return plx::associative_scan(compose, std::pair{p, q}).second; };
  static constexpr auto reversed = [](auto p, auto q) {
    return plx::associative_scan(compose, std::pair{p, q}, plx::in_reverse).second;
  };
  static constexpr auto total = [](auto p, auto q) { return plx::sum(values(p, q)); };
  INFO(N << " elements");
  check_close<double>(plx::jit(values)(a, b), {N}, y, 1e-13);
  check_close<double>(plx::jit(reversed)(a, b), {N}, from_end, 1e-13);
  auto [to_a, to_b] = plx::jit(plx::grad(total, plx::argnums<0, 1>))(a, b);
  check_close<double>(to_a, {N}, da, 1e-13, 1e-13);
  check_close<double>(to_b, {N}, db, 1e-13);
}

} // namespace

TEST_CASE("associative_scan: recurrences of any length, from both ends, and their gradients") {
  check_recurrence<1>();
  check_recurrence<2>();
  check_recurrence<3>();
  check_recurrence<6>();
  check_recurrence<7>();
  check_recurrence<16>();
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
  check_close<double>(plx::jit(plx::vmap(prefixes))(x), {2, 5}, sums);
  check_close<double>(plx::pmap(prefixes)(x), {2, 5}, sums);
}

} // namespace associative_scan_test

// Linear systems for tests of solvers: their solutions by elimination, and derivatives by differences.
#pragma once

#include "expected.hpp"

#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

namespace linear_systems {

using namespace conformance;

using vector = std::vector<double>;
using numbers = plx::array<double, 1>;
using matrix = plx::array<double, 2>;
using number = plx::array<double, 0>;

/// By elimination with pivots.
inline vector solved(vector a, vector b) {
  const std::size_t n = b.size();
  for (std::size_t c = 0; c < n; ++c) {
    std::size_t pivot = c;
    for (std::size_t r = c; r < n; ++r)
      if (std::abs(a[r * n + c]) > std::abs(a[pivot * n + c])) pivot = r;
    for (std::size_t k = 0; k < n; ++k) std::swap(a[c * n + k], a[pivot * n + k]);
    std::swap(b[c], b[pivot]);
    for (std::size_t r = c + 1; r < n; ++r) {
      const double factor = a[r * n + c] / a[c * n + c];
      for (std::size_t k = c; k < n; ++k) a[r * n + k] -= factor * a[c * n + k];
      b[r] -= factor * b[c];
    }
  }
  for (std::size_t c = n; c-- > 0;) {
    for (std::size_t k = c + 1; k < n; ++k) b[c] -= a[c * n + k] * b[k];
    b[c] /= a[c * n + c];
  }
  return b;
}
vector values_of(const auto& x) {
  const auto values = x.to_vector();
  return {values.begin(), values.end()};
}
inline double weighed(const vector& x) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * static_cast<double>(i + 1);
  return sum;
}

inline const matrix symmetric{{4., 1., 0.5}, {1., 3., -0.5}, {0.5, -0.5, 2.}},
    general{{4., 1., 0.5}, {-1., 3., -0.5}, {0.25, 1.5, 2.}};
inline const numbers right{1., -2., 0.5};

template <auto& Solve> void check_solution(const matrix& a) {
  check_close<double>(plx::jit(Solve)(a, right), {3}, solved(values_of(a), values_of(right)), 1e-9);
}
template <auto& Solve>
constexpr auto weighed_solution =
    [](auto m, auto b) { return plx::sum(Solve(m, b) * plx::astype<double>(plx::arange(3) + 1)); };
inline vector slope_by_matrix(const matrix& a) {
  return differences([&](const vector& m) { return weighed(solved(m, values_of(right))); }, values_of(a));
}
inline vector slope_by_right(const matrix& a) {
  return differences([&](const vector& b) { return weighed(solved(values_of(a), b)); }, values_of(right));
}
/// Reverse mode, by both.
template <auto& Solve> void check_gradients(const matrix& a) {
  const auto [by_matrix, by_right] = plx::grad(weighed_solution<Solve>, plx::argnums<0, 1>)(a, right);
  check_close<double>(by_matrix, {3, 3}, slope_by_matrix(a), 1e-6);
  check_close<double>(by_right, {3}, slope_by_right(a), 1e-6);
}
/// Forward mode.
template <auto& Solve> void check_tangents(const matrix& a) {
  const vector of_matrix = slope_by_matrix(a), of_right = slope_by_right(a);
  const matrix da{{0.1, -0.2, 0.3}, {-0.2, 0.5, 0.1}, {0.3, 0.1, -0.4}};
  const numbers db{1., 0.5, -1.};
  double along = 0;
  for (std::size_t i = 0; i < 9; ++i) along += of_matrix[i] * values_of(da)[i];
  for (std::size_t i = 0; i < 3; ++i) along += of_right[i] * values_of(db)[i];
  check_close<double>(plx::jvp(weighed_solution<Solve>, std::tuple{a, right}, std::tuple{da, db}).second, {}, {along},
                      1e-6);
}
/// Several right-hand sides, by vmap and by pmap.
template <auto& Solve> void check_batches(const matrix& a) {
  const matrix rights{{1., -2., 0.5}, {0.25, 1., 3.}};
  vector both = solved(values_of(a), values_of(right));
  for (double x : solved(values_of(a), {0.25, 1., 3.})) both.push_back(x);
  check_close<double>(plx::vmap(Solve, plx::in_axes<plx::none, 0>)(a, rights), {2, 3}, both, 1e-9);
  check_close<double>(plx::pmap(Solve, plx::in_axes<plx::none, 0>)(a, rights), {2, 3}, both, 1e-9);
}

} // namespace linear_systems

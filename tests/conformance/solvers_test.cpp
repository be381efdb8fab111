// cg, bicgstab, gmres, custom_linear_solve and custom_root, with their derivatives, beside elimination and by
// differences.
#include "expected.hpp"

#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

namespace solvers_test {

namespace {

using namespace conformance;
using vector = std::vector<double>;
using numbers = plx::array<double, 1>;
using matrix = plx::array<double, 2>;
using number = plx::array<double, 0>;

/// By elimination with pivots.
vector solved(vector a, vector b) {
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
/// The derivative of `f(v)` by each number of v.
template <class F> vector slopes(const F& f, const vector& v) {
  vector result;
  for (std::size_t i = 0; i < v.size(); ++i) {
    vector above = v, below = v;
    above[i] += 1e-6;
    below[i] -= 1e-6;
    result.push_back((f(above) - f(below)) / 2e-6);
  }
  return result;
}
double weighed(const vector& x) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * static_cast<double>(i + 1);
  return sum;
}

constexpr plx::solver_options exact{.tol = 1e-13};
constexpr plx::gmres_options exact_restarted{{.tol = 1e-13}, 3};
constexpr auto by_cg = [](auto a, auto b) { return plx::cg(a, b, exact); };
constexpr auto by_bicgstab = [](auto a, auto b) { return plx::bicgstab(a, b, exact); };
constexpr auto by_gmres = [](auto a, auto b) { return plx::gmres(a, b, exact_restarted); };

const matrix symmetric{{4., 1., 0.5}, {1., 3., -0.5}, {0.5, -0.5, 2.}},
    general{{4., 1., 0.5}, {-1., 3., -0.5}, {0.25, 1.5, 2.}};
const numbers right{1., -2., 0.5};

template <auto& Solve> void check_solution(const matrix& a) {
  check_close<double>(plx::jit(Solve)(a, right), {3}, solved(values_of(a), values_of(right)), 1e-9);
}
template <auto& Solve> void check_derivatives(const matrix& a) {
  // reverse mode by both
  static constexpr auto loss = [](auto m, auto b) {
    return plx::sum(Solve(m, b) * plx::astype<double>(plx::arange(3) + 1));
  };
  const auto [by_matrix, by_right] = plx::grad(loss, plx::argnums<0, 1>)(a, right);
  const vector of_matrix = slopes([&](const vector& m) { return weighed(solved(m, values_of(right))); }, values_of(a));
  const vector of_right = slopes([&](const vector& b) { return weighed(solved(values_of(a), b)); }, values_of(right));
  check_close<double>(by_matrix, {3, 3}, of_matrix, 1e-6);
  check_close<double>(by_right, {3}, of_right, 1e-6);
  // forward mode
  const matrix da{{0.1, -0.2, 0.3}, {-0.2, 0.5, 0.1}, {0.3, 0.1, -0.4}};
  const numbers db{1., 0.5, -1.};
  double along = 0;
  for (std::size_t i = 0; i < 9; ++i) along += of_matrix[i] * values_of(da)[i];
  for (std::size_t i = 0; i < 3; ++i) along += of_right[i] * values_of(db)[i];
  check_close<double>(plx::jvp(loss, std::tuple{a, right}, std::tuple{da, db}).second, {}, {along}, 1e-6);
}
/// Several right-hand sides, by vmap and by pmap.
template <auto& Solve> void check_batches(const matrix& a) {
  const matrix rights{{1., -2., 0.5}, {0.25, 1., 3.}};
  vector both = solved(values_of(a), values_of(right));
  for (double x : solved(values_of(a), {0.25, 1., 3.})) both.push_back(x);
  check_close<double>(plx::vmap(Solve, plx::in_axes<plx::none, 0>)(a, rights), {2, 3}, both, 1e-9);
  check_close<double>(plx::pmap(Solve, plx::in_axes<plx::none, 0>)(a, rights), {2, 3}, both, 1e-9);
}

} // namespace

TEST_CASE("cg solves symmetric systems, and its derivatives solve them again") {
  check_solution<by_cg>(symmetric);
  check_derivatives<by_cg>(symmetric);
}
TEST_CASE("bicgstab and gmres solve systems of any matrix") {
  check_solution<by_bicgstab>(general);
  check_solution<by_gmres>(general);
}
// nvcc's evaluator does not bear them (docs/design.md), and two backends take too much memory to compile
#if !defined(__CUDACC__) && !defined(PARALLAX_DEVICE_API)
TEST_CASE("bicgstab and gmres: derivatives solve transposed systems") {
  check_derivatives<by_bicgstab>(general);
  check_derivatives<by_gmres>(general);
}
TEST_CASE("solvers of several right-hand sides") {
  check_batches<by_cg>(symmetric);
  check_batches<by_gmres>(general);
}
#endif

TEST_CASE("cg of a function and of a tree, from a guess, with second derivatives") {
  static constexpr auto on_tree = [](auto a, auto b, auto guess) {
    auto multiply = [a](auto x) {
      auto joined = plx::dot(a, plx::concatenate({x.first, plx::expand_dims(x.second, 0)}));
      return std::pair{plx::slice_in_dim(joined, 0, 2), joined[2]};
    };
    return plx::cg(multiply, b, exact, guess);
  };
  const std::pair b{numbers{1., -2.}, number(0.5)}, guess{numbers{0.2, -0.7}, number(0.1)};
  const vector expected = solved(values_of(symmetric), {1., -2., 0.5});
  const auto x = plx::jit(on_tree)(symmetric, b, guess);
  check_close<double>(x.first, {2}, {expected[0], expected[1]}, 1e-9);
  check_close<double>(x.second, {}, {expected[2]}, 1e-9);

  // x(s) = (A + s)^-1 b: its second derivative is 2 (A + s)^-3 b
  static constexpr auto shifted = [](auto s) {
    auto multiply = [s](auto v) { return v * 3. + v * s; };
    return plx::sum(plx::cg(multiply, plx::ones<double>({2}) * (1. + 0. * s), exact));
  };
  check_close<double>(plx::grad(plx::grad(shifted))(number(0.5)), {}, {2 * 2 / std::pow(3.5, 3)}, 1e-9);
  check_close<double>(plx::hessian(shifted)(number(0.5)), {}, {2 * 2 / std::pow(3.5, 3)}, 1e-9);
}

TEST_CASE("custom_linear_solve: a solver that is no iteration") {
  static constexpr auto diagonal = [](auto d, auto b) {
    auto divide = [d](auto, auto y) { return y / plx::stop_gradient(d); }; // nothing of it is differentiated
    return plx::custom_linear_solve([d](auto x) { return d * x; }, b, divide, divide);
  };
  static constexpr auto loss = [](auto d, auto b) { return plx::sum(diagonal(d, b)); };
  const numbers d{2., 4., 5.};
  const auto [by_d, by_b] = plx::grad(loss, plx::argnums<0, 1>)(d, right);
  check_close<double>(by_b, {3}, {0.5, 0.25, 0.2}, 1e-12);
  check_close<double>(by_d, {3}, {-1. / 4, 2. / 16, -0.5 / 25}, 1e-12);
}

TEST_CASE("custom_root: a root's derivatives are those of its equation") {
  // x^3 + x = a, by Newton's method in a loop that has no reverse mode
  static constexpr auto root = [](auto a) {
    auto f = [a](auto x) { return x * x * x + x - a; };
    auto newton = [](auto g, auto x0) {
      return plx::while_loop([g](auto x) { return plx::max(plx::abs(g(x))) > 1e-13; },
                             [g](auto x) { return x - g(x) / (3. * x * x + 1.); }, x0);
    };
    auto divide = [](auto g, auto y) { return y / g(plx::ones_like(y)); };
    return plx::custom_root(f, 1. + 0.01 * a, newton, divide); // the first guess has no part in derivatives
  };
  const double a = 3, x = 1.2134116627622296;
  CHECK(x * x * x + x == Approx(a));
  const double slope = 1 / (3 * x * x + 1), curvature = -6 * x * slope * slope * slope;
  check_close<double>(plx::jit(root)(number(a)), {}, {x}, 1e-12);
  check_close<double>(plx::grad(root)(number(a)), {}, {slope}, 1e-12);
  check_close<double>(plx::jvp(root, std::tuple{number(a)}, std::tuple{number(2.)}).second, {}, {2 * slope}, 1e-12);
  check_close<double>(plx::grad(plx::grad(root))(number(a)), {}, {curvature}, 1e-11);
  check_close<double>(plx::vmap(plx::grad(root))(numbers{3., 3.}), {2}, {slope, slope}, 1e-12);
}

} // namespace solvers_test

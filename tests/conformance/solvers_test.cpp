// cg, custom_linear_solve and custom_root, with their derivatives, beside elimination and by differences.
#include "linear_systems.hpp"

namespace solvers_test {

namespace {

using namespace linear_systems;

constexpr plx::solver_options exact{.tol = 1e-13};
constexpr auto by_cg = [](auto a, auto b) { return plx::cg(a, b, exact); };

} // namespace

TEST_CASE("cg solves symmetric systems, and its derivatives solve them again") {
  check_solution<by_cg>(symmetric);
  check_gradients<by_cg>(symmetric);
  check_tangents<by_cg>(symmetric);
}
TEST_CASE("cg of several right-hand sides") { check_batches<by_cg>(symmetric); }

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
  static constexpr auto sum = [](auto all) {
    auto add = [](auto before, auto each) { return std::pair{before + root(each), plx::none}; };
    return plx::scan(add, 0., all).first;
  };
  check_close<double>(plx::pmap(plx::grad(sum))(matrix{{3., 3.}, {3., 3.}}), {2, 2}, {slope, slope, slope, slope},
                      1e-12);
}

} // namespace solvers_test

// Newton's method on a function of twenty numbers: its Hessian by `hessian`, the step by conjugate gradients.
#include "support/claim.hpp"
#include "support/run_example.hpp"

#include <parallax/parallax.hpp>

#include <cmath>
#include <iostream>
#include <span>
#include <tuple>

namespace plx = parallax;

namespace {

constexpr int dimensions = 20;
using vector = plx::array<double, plx::extents<dimensions>>;

// A chain of springs that stiffen, each pulled towards a place of its own.
constexpr auto energy = [](auto x) {
  auto places = plx::astype<double>(plx::arange(dimensions)) * 0.25;
  auto pulled = x - places;
  auto stretched = plx::slice_in_dim(x, 1, plx::none) - plx::slice_in_dim(x, 0, -1);
  return plx::sum(plx::square(pulled)) * 0.5 + plx::sum(plx::power(stretched, 4)) + plx::sum(plx::exp(-x));
};

// The next point, and how long the gradient was.
constexpr auto newton_step = [](auto x) {
  auto gradient = plx::grad(energy)(x);
  auto step = plx::cg(plx::hessian(energy)(x), gradient, {.tol = 1e-14});
  return std::tuple{x - step, plx::sqrt(plx::dot(gradient, gradient))};
};
// The same without a Hessian: products with it alone, by forward mode over reverse mode.
constexpr auto matrix_free_step = [](auto x) {
  auto gradient = plx::grad(energy)(x);
  auto product = [x](auto v) { return plx::jvp(plx::grad(energy), std::tuple{x}, std::tuple{v}).second; };
  return x - plx::cg(product, gradient, {.tol = 1e-14});
};

void run() {
  vector x, other;
  double before = 0, length = 0;
  int quadratic = 0;
  for (int step = 0; step < 12; ++step) {
    const auto [next, norm] = plx::jit(newton_step)(x);
    other = plx::jit(matrix_free_step)(x);
    before = length;
    length = norm.item();
    std::cout << "step " << step << "  gradient " << length << '\n';
    if (step > 0 && length < 1e-2 && length < 10 * before * before) ++quadratic;
    const double apart = plx::array(plx::max(plx::abs(next - other))).item();
    examples::claim(apart < 1e-8, "products with the Hessian are as good as the Hessian");
    x = next;
  }
  examples::claim(length < 1e-12, "the gradient vanishes");
  examples::claim(quadratic >= 2, "each step near the minimum doubles the digits");
}

} // namespace

int main(int argc, char** argv) {
  return examples::run_example("newton", argc, argv, [](std::span<const char* const>) { run(); });
}

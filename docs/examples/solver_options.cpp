// solver_options
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto solve = [](auto a, auto b) { return plx::cg(a, b, plx::solver_options{.tol = 1e-6}); };
constexpr auto one_step = [](auto a, auto b) { return plx::cg(a, b, {.maxiter = 1}); };

int main() {
  plx::array<float, 2> a{{1, 0}, {0, 3}};
  plx::array<float, 1> b{1, 1};
  std::cout << plx::jit(solve)(a, b) << ' ' << plx::jit(one_step)(a, b) << '\n';
}
// [1.        0.3333333] [0.5 0.5]

// cg
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto solve = [](auto a, auto b) { return plx::cg(a, b); };
constexpr auto solve_by_products = [](auto b) { // the matrix may be a function: here {{2, 1}, {1, 2}}
  return plx::cg([](auto x) { return x + plx::sum(x); }, b);
};

int main() {
  plx::array<float, 2> a{{2, 1}, {1, 2}}; // symmetric, positive definite
  plx::array<float, 1> b{7, 8};
  std::cout << plx::jit(solve)(a, b) << ' ' << plx::jit(solve_by_products)(b) << '\n';
}
// [2. 3.] [2. 3.]

// cg
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto solve = [](auto a, auto b) { return plx::cg(a, b); };

int main() {
  plx::array<float, 2> a{{4, 1}, {1, 3}}; // symmetric, positive definite
  plx::array<float, 1> b{6, 7};
  std::cout << plx::jit(solve)(a, b) << '\n';
}
// [0.9999998 2.       ]

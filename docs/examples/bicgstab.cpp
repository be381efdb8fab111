// bicgstab
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto solve = [](auto a, auto b) { return plx::bicgstab(a, b); };

int main() {
  plx::array<float, 2> a{{4, 1}, {0, 2}}; // no symmetry
  plx::array<float, 1> b{6, 4};
  std::cout << plx::jit(solve)(a, b) << '\n';
}
// [1. 2.]

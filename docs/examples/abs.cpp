// abs
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<float, 1> x{-2, 0, 3};
  std::cout << plx::abs(x) << '\n';
}
// [2. 0. 3.]

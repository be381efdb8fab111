// reciprocal
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<float, 1> x{-2, 0.5f, 4};
  std::cout << plx::reciprocal(x) << '\n';
}
// [-0.5   2.    0.25]

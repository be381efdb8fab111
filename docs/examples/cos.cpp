// cos
#include <parallax/parallax.hpp>

#include <iostream>
#include <numbers>

namespace plx = parallax;

int main() {
  plx::array<double, 1> x{0, std::numbers::pi / 3, std::numbers::pi};
  std::cout << plx::cos(x) << '\n';
}
// [ 1.   0.5 -1. ]

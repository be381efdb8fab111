// sin
#include <parallax/parallax.hpp>

#include <iostream>
#include <numbers>

namespace plx = parallax;

int main() {
  plx::array<double, 1> x{0, std::numbers::pi / 6, std::numbers::pi / 2};
  std::cout << plx::sin(x) << '\n';
}
// [0.  0.5 1. ]

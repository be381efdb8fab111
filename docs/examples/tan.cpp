// tan
#include <parallax/parallax.hpp>

#include <iostream>
#include <numbers>

namespace plx = parallax;

int main() {
  plx::array<double, 1> x{0, std::numbers::pi / 4, std::numbers::pi / 3};
  std::cout << plx::tan(x) << '\n';
}
// [0.         1.         1.73205081]

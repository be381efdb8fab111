// cummin
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<float, 1> x{3, 1, 4, 1, 0};
  std::cout << plx::cummin(x) << '\n';
}
// [3. 1. 1. 1. 0.]

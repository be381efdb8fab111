// min
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<float, 2> m{{1, 5}, {4, 2}};
  std::cout << plx::min(m) << ' ' << plx::min(m, plx::axis<1>) << '\n';
}
// 1.0 [1. 2.]

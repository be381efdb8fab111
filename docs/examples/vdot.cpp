// vdot
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<float, 2> a{{1, 2}, {3, 4}}, b{{1, 1}, {2, 2}};
  std::cout << plx::vdot(a, b) << '\n';
}
// 17.0

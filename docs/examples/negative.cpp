// negative
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<float, 1> x{1, -2, 0.5f};
  std::cout << plx::negative(x) << ' ' << -x << '\n';
}
// [-1.   2.  -0.5] [-1.   2.  -0.5]

// subtract, operator-, operator-=
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<float, 1> x{1, 2, 3}, y{3, 3, 3};
  std::cout << plx::subtract(x, y) << ' ' << x - y << ' ' << 1 - x << '\n';
  x -= y;
  std::cout << x << '\n';
}
// [-2. -1.  0.] [-2. -1.  0.] [ 0. -1. -2.]
// [-2. -1.  0.]

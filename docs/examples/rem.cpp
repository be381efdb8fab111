// rem, operator%
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<int, 1> x{7, -7, 8};
  std::cout << plx::rem(x, 3) << ' ' << x % 3 << '\n';
  plx::array<float, 1> y{5.5f, -5.5f};
  std::cout << y % 2 << '\n';
}
// [ 1 -1  2] [ 1 -1  2]
// [ 1.5 -1.5]

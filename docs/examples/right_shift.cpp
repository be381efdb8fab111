// right_shift, operator>>
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<int, 1> x{64, -8};
  std::cout << plx::right_shift(x, 3) << ' ' << (x >> 1) << '\n';
}
// [ 8 -1] [32 -4]

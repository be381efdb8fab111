// left_shift, operator<<
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<int, 1> x{1, 3};
  std::cout << plx::left_shift(x, 4) << ' ' << (x << 1) << '\n';
}
// [16 48] [2 6]

// bitwise_or, operator|
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<int, 1> x{12, 10}, y{10, 6};
  std::cout << plx::bitwise_or(x, y) << ' ' << (x | 1) << '\n';
}
// [14 14] [13 11]

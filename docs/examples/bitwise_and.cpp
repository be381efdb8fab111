// bitwise_and, operator&
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<int, 1> x{12, 10}, y{10, 6};
  std::cout << plx::bitwise_and(x, y) << ' ' << (x & 1) << '\n';
}
// [8 2] [0 0]

// bitwise_not, operator~
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<int, 1> x{0, 1, -1};
  plx::array<bool, 1> b{true, false};
  std::cout << plx::bitwise_not(x) << ' ' << ~x << ' ' << ~b << '\n';
}
// [-1 -2  0] [-1 -2  0] [False  True]

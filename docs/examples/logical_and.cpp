// logical_and, operator&&
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<int, 1> x{0, 1, 2, 3};
  std::cout << plx::logical_and(x, x - 1) << ' ' << (x > 0 && x < 3) << '\n';
}
// [False False  True  True] [False  True  True False]

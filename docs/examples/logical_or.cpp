// logical_or, operator||
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<int, 1> x{0, 1, 2, 3};
  std::cout << plx::logical_or(x, x - 1) << ' ' << (x == 0 || x == 3) << '\n';
}
// [ True  True  True  True] [ True False False  True]

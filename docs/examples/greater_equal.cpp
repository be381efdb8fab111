// greater_equal, operator>=
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<int, 1> x{1, 2, 3}, y{2, 2, 2};
  std::cout << plx::greater_equal(x, y) << ' ' << (x >= 3) << '\n';
}
// [False  True  True] [False False  True]

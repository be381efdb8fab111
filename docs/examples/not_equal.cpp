// not_equal, operator!=
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<int, 1> x{1, 2, 3}, y{1, 5, 3};
  std::cout << plx::not_equal(x, y) << ' ' << (x != 2) << '\n';
}
// [False  True False] [ True False  True]

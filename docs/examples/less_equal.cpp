// less_equal, operator<=
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<int, 1> x{1, 2, 3}, y{2, 2, 2};
  std::cout << plx::less_equal(x, y) << ' ' << (x <= 1) << '\n';
}
// [ True  True False] [ True False False]

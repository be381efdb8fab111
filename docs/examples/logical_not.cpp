// logical_not, operator!
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<int, 1> x{0, 1, 2};
  std::cout << plx::logical_not(x) << ' ' << !(x > 1) << '\n';
}
// [ True False False] [ True  True False]

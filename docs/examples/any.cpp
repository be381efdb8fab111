// any
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<int, 2> m{{0, 0, 3}, {0, 0, 0}};
  std::cout << plx::any(m) << ' ' << plx::any(m == 3, plx::axis<1>) << '\n';
}
// True [ True False]

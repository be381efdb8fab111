// all
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<int, 2> m{{1, 2, 3}, {4, 0, 6}};
  std::cout << plx::all(m > 0) << ' ' << plx::all(m, plx::axis<1>) << '\n';
}
// False [ True False]

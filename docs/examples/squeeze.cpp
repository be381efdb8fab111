// squeeze
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<float, plx::extents<3, 1>> column{{1}, {2}, {3}};
  std::cout << plx::squeeze(column, plx::axis<1>) << '\n';
}
// [1. 2. 3.]

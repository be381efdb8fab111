// argmin
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<float, 2> m{{5, 1, 1}, {4, 2, 0}};
  std::cout << plx::argmin(m) << ' ' << plx::argmin(m, plx::axis<1>) << '\n';
}
// 5 [1 2]

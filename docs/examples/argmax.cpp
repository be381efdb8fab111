// argmax
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<float, 2> m{{1, 9, 9}, {4, 2, 3}};
  std::cout << plx::argmax(m) << ' ' << plx::argmax(m, plx::axis<1>) << '\n';
}
// 1 [1 0]

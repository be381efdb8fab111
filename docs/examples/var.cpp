// var
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<float, 2> m{{1, 3}, {2, 8}};
  std::cout << plx::var(m) << ' ' << plx::var(m, plx::axis<1>) << '\n';
}
// 7.25 [1. 9.]

// iota
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array i = plx::iota(4);
  plx::array x = plx::iota<double>(4);
  std::cout << i << ' ' << x << '\n';
}
// [0 1 2 3] [0. 1. 2. 3.]

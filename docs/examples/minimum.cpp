// minimum
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<float, 1> x{1, 5, 3}, y{4, 2, 3};
  std::cout << plx::minimum(x, y) << ' ' << plx::minimum(x, 2) << '\n';
}
// [1. 2. 3.] [1. 2. 2.]

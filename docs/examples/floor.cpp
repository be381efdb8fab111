// floor
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<float, 1> x{-1.5f, 0.9f, 2};
  std::cout << plx::floor(x) << '\n';
}
// [-2.  0.  2.]

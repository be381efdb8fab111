// sign
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<float, 1> x{-2.5f, 0, 7};
  std::cout << plx::sign(x) << '\n';
}
// [-1.  0.  1.]

// clip
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<float, 1> x{-5, 0.5f, 7};
  std::cout << plx::clip(x, 0, 1) << '\n';
}
// [0.  0.5 1. ]

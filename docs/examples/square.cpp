// square
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<float, 1> x{-2, 0.5f, 3};
  std::cout << plx::square(x) << '\n';
}
// [4.   0.25 9.  ]

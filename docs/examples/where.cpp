// where
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<float, 1> x{-2, 0, 3};
  std::cout << plx::where(x > 0, x, 0.1f * x) << '\n';
}
// [-0.2  0.   3. ]

// sqrt
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<float, 1> x{0, 2, 9};
  std::cout << plx::sqrt(x) << '\n';
}
// [0.        1.4142135 3.       ]

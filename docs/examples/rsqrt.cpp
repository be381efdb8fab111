// rsqrt
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<float, 1> x{0.25f, 1, 16};
  std::cout << plx::rsqrt(x) << '\n';
}
// [2.   1.   0.25]

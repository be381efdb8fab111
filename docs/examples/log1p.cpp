// log1p
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<float, 1> x{0, 1e-5f, 1};
  std::cout << plx::log1p(x) << '\n';
}
// [0.0000000e+00 9.9999500e-06 6.9314718e-01]

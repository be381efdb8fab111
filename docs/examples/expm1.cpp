// expm1
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<float, 1> x{0, 1e-5f, 1};
  std::cout << plx::expm1(x) << '\n';
}
// [0.0000000e+00 1.0000050e-05 1.7182818e+00]

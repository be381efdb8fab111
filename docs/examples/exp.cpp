// exp
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<float, 1> x{0, 1, 2};
  std::cout << plx::exp(x) << '\n';
}
// [1.        2.7182817 7.389056 ]

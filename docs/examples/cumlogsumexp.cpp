// cumlogsumexp
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<float, 1> x{0, 0, 0, 0};
  std::cout << plx::exp(plx::cumlogsumexp(x)) << '\n';
}
// [1. 2. 3. 4.]

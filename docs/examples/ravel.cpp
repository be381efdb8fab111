// ravel
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<float, 2> m{{1, 2}, {3, 4}};
  std::cout << plx::ravel(m) << '\n';
}
// [1. 2. 3. 4.]

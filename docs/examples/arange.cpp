// arange
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array i = plx::arange(5);
  plx::array x = plx::arange<float>(5) / 2;
  std::cout << i << ' ' << x << '\n';
}
// [0 1 2 3 4] [0.  0.5 1.  1.5 2. ]

// cumprod
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<float, 1> x{1, 2, 3, 4};
  std::cout << plx::cumprod(x) << '\n';
}
// [ 1.  2.  6. 24.]

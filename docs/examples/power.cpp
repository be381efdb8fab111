// power, pow
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<float, 1> x{1, 2, 9}, y{3, -1, 0.5f};
  std::cout << plx::power(x, y) << ' ' << plx::pow(x, 2) << '\n';
}
// [1.  0.5 3. ] [ 1.  4. 81.]

// dot
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<float, 2> m{{1, 2}, {3, 4}};
  plx::array<float, 1> x{10, 100};
  std::cout << plx::dot(m, x) << ' ' << plx::dot(x, x) << '\n' << plx::dot(m, m) << '\n';
}
// [210. 430.] 10100.0
// [[ 7. 10.]
//  [15. 22.]]

// max
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<float, 2> m{{1, 5}, {4, 2}};
  std::cout << plx::max(m) << ' ' << plx::max(m, plx::axis<1>) << '\n';
}
// 5.0 [5. 4.]

// sum
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<float, 2> m{{1, 2, 3}, {4, 5, 6}};
  std::cout << plx::sum(m) << ' ' << plx::sum(m, plx::axis<0>) << ' ' << plx::sum(m, plx::axis<1>) << '\n';
  std::cout << plx::sum(m > 2) << '\n';
}
// 21.0 [5. 7. 9.] [ 6. 15.]
// 4

// axis, axis_t
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<float, 3> x{{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}};
  std::cout << plx::sum(x, plx::axis<0>) << '\n'
            << plx::sum(x, plx::axis<1, 2>) << ' ' << plx::max(x, plx::axis<-1>) << '\n';
}
// [[ 6.  8.]
//  [10. 12.]]
// [10. 26.] [[2. 4.]
//  [6. 8.]]

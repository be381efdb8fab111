// cumsum
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<float, 2> m{{1, 2, 3}, {4, 5, 6}};
  std::cout << plx::cumsum(m) << '\n' << plx::cumsum(m, plx::axis<1>) << '\n';
}
// [ 1.  3.  6. 10. 15. 21.]
// [[ 1.  3.  6.]
//  [ 4.  9. 15.]]

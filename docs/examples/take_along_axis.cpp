// take_along_axis
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<float, 2> x{{30, 10, 20}, {5, 6, 4}};
  plx::array order = plx::argsort(x, plx::axis<1>);
  std::cout << plx::take_along_axis(x, order, plx::axis<1>) << '\n'; // each row sorted
}
// [[10. 20. 30.]
//  [ 4.  5.  6.]]

// outer
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<float, 1> a{1, 2}, b{1, 10, 100};
  std::cout << plx::outer(a, b) << '\n';
}
// [[  1.  10. 100.]
//  [  2.  20. 200.]]

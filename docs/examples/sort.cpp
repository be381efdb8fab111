// sort
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<float, 2> m{{3, 1, 2}, {0, 5, 4}};
  std::cout << plx::sort(m) << '\n' << plx::sort(m, plx::axis<0>) << '\n';
}
// [[1. 2. 3.]
//  [0. 4. 5.]]
// [[0. 1. 2.]
//  [3. 5. 4.]]

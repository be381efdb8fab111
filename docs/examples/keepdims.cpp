// keepdims, keepdims_t
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<float, 2> m{{1, 3}, {2, 8}};
  plx::array rows = plx::sum(m, plx::axis<1>, plx::keepdims);
  std::cout << rows << '\n' << m / rows << '\n';
}
// [[ 4.]
//  [10.]]
// [[0.25 0.75]
//  [0.2  0.8 ]]

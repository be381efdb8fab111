// array
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<float, 2> m{{1, 2, 3}, {4, 5, 6}};
  plx::array<double, 1> x({3}, 0.5);
  std::cout << m(1, -1) << ' ' << m[0] << ' ' << m.shape(0) << " x " << m.shape(1) << '\n' << x << '\n';
}
// 6 [1. 2. 3.] 2 x 3
// [0.5 0.5 0.5]

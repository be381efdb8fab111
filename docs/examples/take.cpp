// take
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<float, 2> x{{1, 2, 3}, {4, 5, 6}};
  plx::array<int, 1> i{2, 0, 2};
  std::cout << plx::take(x, i, plx::axis<1>) << '\n' << plx::take(x, plx::array<int, 1>{0, -1}) << '\n';
}
// [[3. 1. 3.]
//  [6. 4. 6.]]
// [1. 6.]

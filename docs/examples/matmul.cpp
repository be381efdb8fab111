// matmul
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<float, 3> batch{{{1, 2}, {3, 4}}, {{0, 1}, {1, 0}}};
  plx::array<float, 2> m{{5, 6}, {7, 8}};
  std::cout << plx::matmul(batch, m) << '\n';
}
// [[[19. 22.]
//   [43. 50.]]
//
//  [[ 7.  8.]
//   [ 5.  6.]]]

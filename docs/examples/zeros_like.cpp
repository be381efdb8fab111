// zeros_like
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<int, 2> m{{5, 6}, {7, 8}};
  plx::array zeros = plx::zeros_like(m);
  std::cout << zeros << '\n';
}
// [[0 0]
//  [0 0]]

// ones_like
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<int, 2> m{{5, 6}, {7, 8}};
  plx::array ones = plx::ones_like(m);
  std::cout << ones << '\n';
}
// [[1 1]
//  [1 1]]

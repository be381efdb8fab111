// broadcast_to
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<float, 1> row{1, 2, 3};
  plx::array m = plx::broadcast_to(row, {2, 3});
  std::cout << m << '\n';
}
// [[1. 2. 3.]
//  [1. 2. 3.]]

// ones
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array m = plx::ones({2, 2});
  plx::array i = plx::ones<int>({3});
  std::cout << m << '\n' << i << '\n';
}
// [[1. 1.]
//  [1. 1.]]
// [1 1 1]

// zeros
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array m = plx::zeros({2, 2});
  plx::array i = plx::zeros<int>({3});
  std::cout << m << '\n' << i << '\n';
}
// [[0. 0.]
//  [0. 0.]]
// [0 0 0]

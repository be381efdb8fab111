// reshape
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<int, 1> x{1, 2, 3, 4, 5, 6};
  plx::array m = plx::reshape(x, {2, -1});
  std::cout << m << '\n';
}
// [[1 2 3]
//  [4 5 6]]

// full
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array m = plx::full({2, 3}, 7);
  plx::array i = plx::full<int>({3}, -1);
  std::cout << m << '\n' << i << '\n';
}
// [[7. 7. 7.]
//  [7. 7. 7.]]
// [-1 -1 -1]

// full_like
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<int, 2> m{{1, 2, 3}, {4, 5, 6}};
  plx::array sevens = plx::full_like(m, 7);
  std::cout << sevens << '\n';
}
// [[7 7 7]
//  [7 7 7]]

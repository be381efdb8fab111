// broadcasted_iota
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array rows = plx::broadcasted_iota<int, 0>({2, 3});
  plx::array columns = plx::broadcasted_iota<int, 1>({2, 3});
  std::cout << rows << '\n' << columns << '\n';
}
// [[0 0 0]
//  [1 1 1]]
// [[0 1 2]
//  [0 1 2]]

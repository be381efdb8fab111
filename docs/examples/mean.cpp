// mean
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<int, 2> m{{1, 2, 3}, {4, 5, 6}};
  std::cout << plx::mean(m) << ' ' << plx::mean(m, plx::axis<0>) << '\n';
}
// 3.5 [2.5 3.5 4.5]

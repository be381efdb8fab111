// add, operator+, operator+=
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<float, 1> x{1, 2, 3};
  plx::array<float, 2> m{{10, 20, 30}, {40, 50, 60}};
  std::cout << plx::add(m, x) << '\n' << m + x << '\n';
  x += 1;
  std::cout << +x << '\n';
}
// [[11. 22. 33.]
//  [41. 52. 63.]]
// [[11. 22. 33.]
//  [41. 52. 63.]]
// [2. 3. 4.]

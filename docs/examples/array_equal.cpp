// array_equal
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<int, 1> a{1, 2, 3}, b = plx::arange(3) + 1, c{1, 2};
  std::cout << std::boolalpha << plx::array_equal(a, b) << ' ' << plx::array_equal(a, c) << '\n';
}
// true false

// logical_xor
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<bool, 1> x{true, true, false, false}, y{true, false, true, false};
  std::cout << plx::logical_xor(x, y) << '\n';
}
// [False  True  True False]

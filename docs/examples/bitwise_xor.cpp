// bitwise_xor, operator^
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<int, 1> x{12, 10}, y{10, 6};
  std::cout << plx::bitwise_xor(x, y) << ' ' << (x ^ 1) << '\n';
}
// [ 6 12] [13 11]

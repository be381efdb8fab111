// slice
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto part = [](auto x) { return plx::slice(x, {0, 1}, {3, 4}, {2, 1}); };

int main() {
  plx::array<int, 2> x{{0, 1, 2, 3}, {10, 11, 12, 13}, {20, 21, 22, 23}};
  std::cout << plx::jit(part)(x) << '\n'; // every second row of 0 to 2, columns 1 to 3
}
// [[ 1  2  3]
//  [21 22 23]]

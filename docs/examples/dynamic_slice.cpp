// dynamic_slice
#include <parallax/parallax.hpp>

#include <iostream>
#include <tuple>

namespace plx = parallax;

constexpr auto part = [](auto x, auto i, auto j) { return plx::dynamic_slice(x, std::tuple{i, j}, {2, 2}); };

int main() {
  plx::array<int, 2> x{{0, 1, 2}, {10, 11, 12}, {20, 21, 22}};
  std::cout << plx::jit(part)(x, 0, 1) << '\n';
  std::cout << plx::jit(part)(x, 2, 1) << '\n'; // moved until it fits: from row 1 on
}
// [[ 1  2]
//  [11 12]]
// [[11 12]
//  [21 22]]

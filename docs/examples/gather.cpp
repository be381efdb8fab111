// gather, gather_dimension_numbers
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto blocks = [](auto x, auto corners) {
  constexpr plx::gather_dimension_numbers numbers{
      .offset_dims = {1, 2}, .collapsed_slice_dims = {}, .start_index_map = {0, 1}};
  return plx::gather(x, corners, numbers, {2, 2});
};

int main() {
  plx::array<int, 2> x{{0, 1, 2}, {10, 11, 12}, {20, 21, 22}};
  plx::array<int, plx::extents<2, 2>> corners{{0, 1}, {1, 0}}; // the rows and columns that 2 x 2 blocks begin at
  std::cout << plx::jit(blocks)(x, corners) << '\n';
}
// [[[ 1  2]
//   [11 12]]
//
//  [[10 11]
//   [20 21]]]

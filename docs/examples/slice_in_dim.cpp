// slice_in_dim
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto inner = [](auto x) { return plx::slice_in_dim(x, 1, -1); };
constexpr auto odd_columns = [](auto x) { return plx::slice_in_dim(x, 1, plx::none, 2, 1); };

int main() {
  plx::array<int, 2> x{{0, 1, 2, 3}, {10, 11, 12, 13}, {20, 21, 22, 23}};
  std::cout << plx::jit(inner)(x) << '\n' << plx::jit(odd_columns)(x) << '\n';
}
// [[10 11 12 13]]
// [[ 1  3]
//  [11 13]
//  [21 23]]

// dynamic_update_index_in_dim
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto with_row = [](auto x, auto row, auto i) { return plx::dynamic_update_index_in_dim(x, row, i); };

int main() {
  plx::array<int, 2> x{{1, 2}, {3, 4}, {5, 6}};
  plx::array<int, 1> row{70, 80};
  std::cout << plx::jit(with_row)(x, row, 1) << '\n';
}
// [[ 1  2]
//  [70 80]
//  [ 5  6]]

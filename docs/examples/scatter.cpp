// scatter, scatter_dimension_numbers
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto with_rows = [](auto x, auto places, auto rows) {
  constexpr plx::scatter_dimension_numbers numbers{
      .update_window_dims = {1}, .inserted_window_dims = {0}, .scatter_dims_to_operand_dims = {0}};
  return plx::scatter(x, places, rows, numbers);
};

int main() {
  plx::array<int, 2> x({3, 2}, 0), rows{{1, 2}, {3, 4}};
  plx::array<int, plx::extents<2, 1>> places{{2}, {0}};
  std::cout << plx::jit(with_rows)(x, places, rows) << '\n';
}
// [[3 4]
//  [0 0]
//  [1 2]]

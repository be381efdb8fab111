// scatter_max
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto largest = [](auto x, auto places, auto updates) {
  constexpr plx::scatter_dimension_numbers numbers{
      .update_window_dims = {}, .inserted_window_dims = {0}, .scatter_dims_to_operand_dims = {0}};
  return plx::scatter_max(x, places, updates, numbers);
};

int main() {
  plx::array<int, 1> x{5, 5, 5}, updates{9, 7, 3};
  plx::array<int, plx::extents<3, 1>> places{{0}, {0}, {2}};
  std::cout << plx::jit(largest)(x, places, updates) << '\n';
}
// [9 5 5]

// scatter_mul
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto products = [](auto x, auto places, auto factors) {
  constexpr plx::scatter_dimension_numbers numbers{
      .update_window_dims = {}, .inserted_window_dims = {0}, .scatter_dims_to_operand_dims = {0}};
  return plx::scatter_mul(x, places, factors, numbers);
};

int main() {
  plx::array<int, 1> x{1, 2, 3}, factors{2, 3, 10};
  plx::array<int, plx::extents<3, 1>> places{{0}, {0}, {2}};
  std::cout << plx::jit(products)(x, places, factors) << '\n';
}
// [ 6  2 30]

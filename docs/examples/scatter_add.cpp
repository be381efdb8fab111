// scatter_add
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto histogram = [](auto counts, auto bins) {
  constexpr plx::scatter_dimension_numbers numbers{
      .update_window_dims = {}, .inserted_window_dims = {0}, .scatter_dims_to_operand_dims = {0}};
  return plx::scatter_add(counts, bins, plx::ones<int>({5}), numbers);
};

int main() {
  plx::array<int, 1> counts({4}, 0);
  plx::array<int, plx::extents<5, 1>> bins{{1}, {3}, {1}, {0}, {1}};
  std::cout << plx::jit(histogram)(counts, bins) << '\n';
}
// [1 3 0 1]

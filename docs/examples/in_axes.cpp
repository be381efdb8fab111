// in_axes, in_axes_t
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto apply = [](auto matrix, auto column) { return plx::dot(matrix, column); };
constexpr auto to_columns = plx::vmap(apply, plx::in_axes<plx::none, 1>); // one matrix, each column of the second

int main() {
  plx::array<float, 2> matrix{{0, 1}, {1, 0}}, columns{{1, 2, 3}, {4, 5, 6}};
  std::cout << to_columns(matrix, columns) << '\n'; // a row for each column
}
// [[4. 1.]
//  [5. 2.]
//  [6. 3.]]

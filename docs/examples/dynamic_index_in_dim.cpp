// dynamic_index_in_dim
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto column = [](auto x, auto j) { return plx::dynamic_index_in_dim(x, j, 1); };

int main() {
  plx::array<float, 2> x{{1, 2, 3}, {4, 5, 6}};
  std::cout << plx::jit(column)(x, 2) << '\n';
}
// [3. 6.]

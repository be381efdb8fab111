// index_in_dim
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto columns = [](auto x) { return plx::index_in_dim(x, 0, 1) + 10 * plx::index_in_dim(x, -1, 1); };

int main() {
  plx::array<int, 2> x{{1, 2, 3}, {4, 5, 6}};
  std::cout << plx::jit(columns)(x) << '\n';
}
// [31 64]

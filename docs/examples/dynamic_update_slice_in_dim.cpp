// dynamic_update_slice_in_dim
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto with = [](auto x, auto part, auto start) { return plx::dynamic_update_slice_in_dim(x, part, start); };

int main() {
  plx::array<int, 1> x{0, 1, 2, 3, 4}, part{80, 90};
  std::cout << plx::jit(with)(x, part, 2) << '\n';
}
// [ 0  1 80 90  4]

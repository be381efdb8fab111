// dynamic_slice_in_dim
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto window = [](auto x, auto start) { return plx::dynamic_slice_in_dim(x, start, 3); };

int main() {
  plx::array<int, 1> x{0, 10, 20, 30, 40};
  for (int start : {0, 1, 2}) std::cout << plx::jit(window)(x, start) << '\n';
}
// [ 0 10 20]
// [10 20 30]
// [20 30 40]

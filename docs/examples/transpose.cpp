// transpose
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto swapped = [](auto x) { return plx::transpose(x, {1, 0, 2}); };

int main() {
  plx::array<float, 2> m{{1, 2, 3}, {4, 5, 6}};
  std::cout << plx::transpose(m) << '\n';
  plx::array y = plx::jit(swapped)(plx::array<float, 3>({2, 3, 4}, 0.f));
  std::cout << y.shape(0) << ' ' << y.shape(1) << ' ' << y.shape(2) << '\n';
}
// [[1. 4.]
//  [2. 5.]
//  [3. 6.]]
// 3 2 4

// dynamic_update_slice
#include <parallax/parallax.hpp>

#include <iostream>
#include <tuple>

namespace plx = parallax;

constexpr auto with = [](auto x, auto part, auto i, auto j) {
  return plx::dynamic_update_slice(x, part, std::tuple{i, j});
};

int main() {
  plx::array<int, 2> x({3, 3}, 0), part{{1, 2}, {3, 4}};
  std::cout << plx::jit(with)(x, part, 1, 0) << '\n';
}
// [[0 0 0]
//  [1 2 0]
//  [3 4 0]]

// max_rank
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<int, plx::max_rank> x({1, 1, 1, 1, 1, 1, 1, 1}, 7);
  std::cout << plx::max_rank << ' ' << x.size() << '\n';
}
// 8 1

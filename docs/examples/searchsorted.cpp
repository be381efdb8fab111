// searchsorted, right_side
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<float, 1> edges{10, 20, 30}, x{5, 20, 25};
  std::cout << plx::searchsorted(edges, x) << ' ' << plx::searchsorted(edges, x, plx::right_side) << '\n';
}
// [0 1 2] [0 2 2]

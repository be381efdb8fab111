// isfinite
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<float, 1> x{-1, 0, 1};
  std::cout << plx::isfinite(1 / x) << ' ' << plx::isfinite(plx::sqrt(x)) << '\n';
}
// [ True False  True] [False  True  True]

// erf_inv
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<float, 1> x{-0.8427008f, 0, 0.5204999f};
  std::cout << plx::erf_inv(x) << '\n';
}
// [-1.   0.   0.5]

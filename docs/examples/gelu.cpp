// gelu
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<float, 1> x{-1, 0, 2};
  std::cout << plx::gelu(x) << '\n';
}
// [-0.15880796  0.          1.9545977 ]

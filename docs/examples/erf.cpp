// erf
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<float, 1> x{-1, 0, 0.5f};
  std::cout << plx::erf(x) << '\n';
}
// [-0.8427008  0.         0.5204999]

// log
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<float, 1> x{1, 2, 8};
  std::cout << plx::log(x) / plx::log(2.f) << '\n';
}
// [0. 1. 3.]

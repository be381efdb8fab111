// bitcast
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<float, 1> x{1, 2};
  plx::array bits = plx::bitcast<int>(x);
  std::cout << std::hex << bits(0) << ' ' << bits(1) << '\n' << plx::bitcast<float>(bits) << '\n';
}
// 3f800000 40000000
// [1. 2.]

// bfloat16
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<float, 1> x{1.01f, 300.7f};
  std::cout << plx::astype<float>(plx::astype<plx::bfloat16>(x)) << '\n' << sizeof(plx::bfloat16) << " bytes\n";
}
// [  1.0078125 300.       ]
// 2 bytes

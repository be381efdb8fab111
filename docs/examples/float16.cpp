// float16
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<float, 1> x{0.1f, 2049, 70000};
  std::cout << plx::astype<float>(plx::astype<plx::float16>(x)) << '\n' << sizeof(plx::float16) << " bytes\n";
}
// [9.9975586e-02 2.0480000e+03           inf]
// 2 bytes

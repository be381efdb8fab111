// pad
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto padded = [](auto x) { return plx::pad(x, 0, {{1, 2, 1}}); }; // before, behind, between elements

int main() {
  plx::array<float, 1> x{1, 2, 3};
  std::cout << plx::jit(padded)(x) << '\n';
}
// [0. 1. 0. 2. 0. 3. 0. 0.]

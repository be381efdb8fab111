// jit, jitted
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto normalized = [](auto x) { return x / plx::sum(x); };

int main() {
  plx::array<float, 1> x{1, 3, 4};
  std::cout << plx::jit(normalized)(x) << '\n';
}
// [0.125 0.375 0.5  ]

// tanh
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<float, 1> x{0, 0.5f, 20};
  std::cout << plx::tanh(x) << '\n';
}
// [0.         0.46211717 1.        ]

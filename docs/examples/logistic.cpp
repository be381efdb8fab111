// logistic
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<float, 1> x{-2, 0, 2};
  std::cout << plx::logistic(x) << '\n';
}
// [0.11920292 0.5        0.8807971 ]

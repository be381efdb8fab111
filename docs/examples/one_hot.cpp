// one_hot
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto classes = [](auto i) { return plx::one_hot(i, 3); };

int main() {
  plx::array<int, 1> i{2, 0};
  std::cout << plx::jit(classes)(i) << '\n';
}
// [[0. 0. 1.]
//  [1. 0. 0.]]

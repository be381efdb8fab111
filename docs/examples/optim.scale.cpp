// optim::scale
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto halve = plx::optim::scale(0.5);
constexpr auto halved = [](auto gradient) { return halve.update(gradient, halve.init(gradient)).first; };

int main() {
  plx::array<float, 1> gradient{2, -6};
  std::cout << plx::jit(halved)(gradient) << '\n';
}
// [ 1. -3.]

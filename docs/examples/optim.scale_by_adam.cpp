// optim::scale_by_adam
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto adam = plx::optim::scale_by_adam();
constexpr auto first = [](auto gradient) { return adam.update(gradient, adam.init(gradient)).first; };

int main() {
  plx::array<float, 1> gradient{100, -0.5f};
  std::cout << plx::jit(first)(gradient) << '\n'; // no rate, no minus: the first step is about 1 long
}
// [ 0.9999934 -0.9999933]

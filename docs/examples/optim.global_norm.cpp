// optim::global_norm
#include <parallax/parallax.hpp>

#include <iostream>
#include <tuple>

namespace plx = parallax;

constexpr auto norm = [](auto tree) { return plx::optim::global_norm(tree); };

int main() {
  plx::array<float, 2> weights{{2, 4}, {4, 0}};
  plx::array<float, 1> bias{8};
  std::cout << plx::jit(norm)(std::tuple{weights, bias}) << '\n'; // of all elements as one vector
}
// 10.0

// optim::adam_state
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto adam = plx::optim::scale_by_adam();
constexpr auto next = [](auto gradient, auto state) { return adam.update(gradient, state).second; };

int main() {
  plx::array<float, 1> w{1, 1}, gradient{10, -20};
  auto [count, mu, nu] = plx::jit(next)(gradient, adam.init(w)); // 0.1 g and 0.001 g^2
  std::cout << count << ' ' << mu << ' ' << nu << '\n';
}
// 1 [ 1. -2.] [0.1 0.4]

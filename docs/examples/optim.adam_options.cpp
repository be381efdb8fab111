// optim::adam_options
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto adam = plx::optim::adam(0.1, plx::optim::adam_options{.b1 = 0, .b2 = 0});
constexpr auto updates = [](auto gradient, auto state) { return adam.update(gradient, state).first; };

int main() {
  plx::array<float, 1> w{1, 1}, gradient{5, -2};
  std::cout << plx::jit(updates)(gradient, adam.init(w)) << '\n'; // without means only the sign of the gradient counts
}
// [-0.1  0.1]

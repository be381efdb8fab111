// optim::add_decayed_weights
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto decay = plx::optim::add_decayed_weights(0.1);
constexpr auto decayed = [](auto gradient, auto w) { return decay.update(gradient, decay.init(w), w).first; };

int main() {
  plx::array<float, 1> w{10, -20}, gradient{1, 1};
  std::cout << plx::jit(decayed)(gradient, w) << '\n';
}
// [ 2. -1.]

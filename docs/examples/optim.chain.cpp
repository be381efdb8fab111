// optim::chain, optim::chained
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto optimiser = plx::optim::chain(plx::optim::clip_by_global_norm(1.), plx::optim::scale(-10.));
constexpr auto updates = [](auto gradient, auto state) { return optimiser.update(gradient, state).first; };

int main() {
  plx::array<float, 1> gradient{3, -4};
  std::cout << plx::jit(updates)(gradient, optimiser.init(gradient)) << '\n'; // clipped, then scaled
}
// [-6.  8.]

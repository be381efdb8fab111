// optim::sgd
#include <parallax/parallax.hpp>

#include <iostream>
#include <tuple>

namespace plx = parallax;

constexpr auto loss = [](auto w) { return 10 * w; };
constexpr auto sgd = plx::optim::sgd(0.1, 0.5); // rate and momentum
constexpr auto step = [](auto w, auto state) {
  auto [updates, next] = sgd.update(plx::grad(loss)(w), state);
  return std::tuple{plx::optim::apply_updates(w, updates), next};
};

int main() {
  plx::array<float, 0> w = 0;
  auto state = sgd.init(w);
  for (int i = 0; i < 3; ++i) {
    std::tie(w, state) = plx::jit(step)(w, state);
    std::cout << w << '\n';
  }
}
// -1.0
// -2.5
// -4.25

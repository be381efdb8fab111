// optim::adam
#include <parallax/parallax.hpp>

#include <iostream>
#include <tuple>

namespace plx = parallax;

constexpr auto loss = [](auto w) { return plx::sum(plx::square(w - 3)); };
constexpr auto adam = plx::optim::adam(0.1);
constexpr auto step = [](auto w, auto state) {
  auto [updates, next] = adam.update(plx::grad(loss)(w), state);
  return std::tuple{plx::optim::apply_updates(w, updates), next};
};

int main() {
  plx::array<float, 1> w{0, 5};
  auto state = adam.init(w);
  for (int i = 0; i < 2; ++i) std::tie(w, state) = plx::jit(step)(w, state);
  std::cout << w << '\n'; // the first steps have the length of the rate, whatever the gradient is
}
// [0.19989562 4.800168  ]

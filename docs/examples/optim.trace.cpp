// optim::trace, optim::trace_state
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto momentum = plx::optim::trace(0.5);
constexpr auto step = [](auto gradient, auto state) { return momentum.update(gradient, state); };

int main() {
  plx::array<float, 1> gradient{8, 0}, zeros{0, 0};
  auto [first, state] = plx::jit(step)(gradient, momentum.init(gradient));
  auto [second, next] = plx::jit(step)(zeros, state); // gradient + 0.5 * sum
  std::cout << first << ' ' << second << ' ' << next.trace << '\n';
}
// [8. 0.] [4. 0.] [4. 0.]

// optim::scale_by_learning_rate, optim::step_count
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto by_rate = plx::optim::scale_by_learning_rate(plx::optim::linear_schedule{1, 0, 10});
constexpr auto step = [](auto gradient, auto state) { return by_rate.update(gradient, state); };

int main() {
  plx::array<float, 1> gradient{2, -4};
  auto [updates, state] = plx::jit(step)(gradient, by_rate.init(gradient));
  auto [next_updates, next] = plx::jit(step)(gradient, state);
  std::cout << updates << ' ' << next_updates << ' ' << next.count << '\n';
}
// [-2.  4.] [-1.8  3.6] 2

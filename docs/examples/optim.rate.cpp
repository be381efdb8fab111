// optim::rate
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

template <plx::optim::rate Rate> constexpr auto descent(Rate rate) { return plx::optim::sgd(rate, 0.9); }
constexpr auto optimiser = descent(plx::optim::linear_schedule{1, 0, 10}); // or a number

int main() {
  static_assert(plx::optim::rate<double> && plx::optim::rate<plx::optim::linear_schedule>);
  auto first = [](auto gradient) { return optimiser.update(gradient, optimiser.init(gradient)).first; };
  std::cout << plx::jit(first)(3.f) << '\n';
}
// -3.0

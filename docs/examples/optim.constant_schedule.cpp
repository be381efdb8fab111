// optim::constant_schedule
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto rate = [](auto step) { return plx::optim::constant_schedule{0.25}(step); };

int main() {
  for (int step : {0, 1000}) std::cout << plx::jit(rate)(step) << '\n';
  constexpr auto sgd = plx::optim::sgd(plx::optim::constant_schedule{0.25}); // a rate that counts steps all the same
  std::cout << sgd.init(1.f).count << '\n';
}
// 0.25
// 0.25
// 0

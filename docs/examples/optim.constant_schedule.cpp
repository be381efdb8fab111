// optim::constant_schedule
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto rate = [](auto step) { return plx::optim::constant_schedule{0.25}(step); };
constexpr auto sgd = plx::optim::sgd(plx::optim::constant_schedule{0.25});
constexpr auto first = [](auto gradient) { return sgd.update(gradient, sgd.init(gradient)).first; };

int main() {
  plx::array<float, 1> gradient{4, -8};
  std::cout << plx::jit(rate)(1000) << ' ' << plx::jit(first)(gradient) << '\n';
}
// 0.25 [-1.  2.]

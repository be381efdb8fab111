// optim::linear_schedule
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto rate = [](auto step) { return plx::optim::linear_schedule{1, 0.5, 10}(step); };

int main() {
  plx::array<int, 1> steps{0, 5, 10, 20};
  std::cout << plx::jit(rate)(steps) << '\n';
}
// [1.   0.75 0.5  0.5 ]

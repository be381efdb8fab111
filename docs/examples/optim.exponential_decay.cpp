// optim::exponential_decay
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto rate = [](auto step) { return plx::optim::exponential_decay{1, 10, 0.5}(step); };

int main() {
  plx::array<int, 1> steps{0, 5, 10, 20, 30};
  std::cout << plx::jit(rate)(steps) << '\n'; // halved in each 10 steps
}
// [1.         0.70710677 0.5        0.25       0.125     ]

// optim::cosine_decay_schedule
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto rate = [](auto step) { return plx::optim::cosine_decay_schedule{0.5, 100, 0.2}(step); };

int main() {
  plx::array<int, 1> steps{0, 50, 100, 200};
  std::cout << plx::jit(rate)(steps) << '\n'; // down to 0.2 * 0.5
}
// [0.5        0.29999998 0.1        0.1       ]

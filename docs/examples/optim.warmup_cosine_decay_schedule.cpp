// optim::warmup_cosine_decay_schedule
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto rate = [](auto step) { return plx::optim::warmup_cosine_decay_schedule{0, 1, 10, 30}(step); };

int main() {
  plx::array<int, 1> steps{0, 5, 10, 20, 30};
  std::cout << plx::jit(rate)(steps) << '\n';
}
// [0.         0.5        1.         0.49999997 0.        ]

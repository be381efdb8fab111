// random_generator
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

template <class Bits> plx::array<int, 1> dice(plx::random_generator<Bits> generator, int seed) {
  return generator.randint(generator.key(seed), {6}, 1, 7);
}

int main() {
  std::cout << dice(plx::random{}, 1) << '\n';
  std::cout << dice(plx::philox{}, 1) << '\n';
}
// [5 6 3 6 5 5]
// [4 1 6 3 6 5]

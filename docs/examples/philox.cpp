// philox
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array key = plx::philox::key(7);
  plx::array keys = plx::philox::split(key);
  std::cout << plx::philox::bits(key, {2}) << '\n'; // cuRAND's first Philox numbers for seed 7
  std::cout << plx::philox::uniform(keys[0], {3}, -1.f, 1.f) << '\n';
  std::cout << plx::philox::normal(keys[1], {3}) << '\n';
}
// [4099963437 3221879260]
// [-0.9004402  -0.9089415  -0.93195796]
// [ 1.7828825 -2.2965128 -0.7108419]

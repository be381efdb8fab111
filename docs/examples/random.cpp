// random
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array key = plx::random::key(7);
  plx::array keys = plx::random::split(key, 3); // JAX has the same numbers
  std::cout << plx::random::uniform(key, {3}) << '\n';
  std::cout << plx::random::normal(keys[0], {3}) << '\n';
  std::cout << plx::random::randint(keys[1], {5}, 0, 10) << '\n';
  std::cout << plx::random::bernoulli(keys[2], 0.5f, {5}) << '\n';
}
// [0.6740899  0.9746169  0.30284357]
// [ 1.1140472   0.14163129 -0.5224542 ]
// [8 8 0 5 5]
// [ True  True  True False  True]

// jacrev
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto lengths = [](auto x) { return plx::stack({plx::sum(x * x), plx::sum(x)}); };

int main() {
  plx::array<float, 1> x{1, 2, 3};
  std::cout << plx::jacrev(lengths)(x) << '\n'; // a pass back for each of the two results
}
// [[2. 4. 6.]
//  [1. 1. 1.]]

// grad, differentiated
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto cubes = [](auto x) { return plx::sum(x * x * x); };

int main() {
  plx::array<float, 1> x{1, 2, 3};
  std::cout << plx::grad(cubes)(x) << '\n'; // 3 x^2
}
// [ 3. 12. 27.]

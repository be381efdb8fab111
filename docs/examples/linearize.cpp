// linearize, linearized
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto cubes = [](auto x) { return x * x * x; };

int main() {
  plx::array<float, 1> x{1, 2}, right{1, 0}, up{0, 1};
  auto [value, derivative] = plx::linearize(cubes, x);
  std::cout << value << ' ' << derivative(right) << ' ' << derivative(up) << '\n';
}
// [1. 8.] [3. 0.] [ 0. 12.]

// stop_gradient
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto f = [](auto x) { return x * x; };
constexpr auto half = [](auto x) { return plx::stop_gradient(x) * x; };

int main() {
  plx::array<float, 0> x = 3;
  std::cout << plx::grad(f)(x) << ' ' << plx::grad(half)(x) << '\n';
}
// 6.0 3.0

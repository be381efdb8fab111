// traced_pullback
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto cubes = [](auto x) { return x * x * x; };
constexpr auto weighted = [](auto x, auto weights) {
  auto [value, pullback] = plx::vjp(cubes, x); // inside a traced function
  auto [gradient] = pullback(weights);
  return gradient;
};

int main() {
  plx::array<float, 1> x{1, 2}, weights{1, 10};
  std::cout << plx::jit(weighted)(x, weights) << '\n';
}
// [  3. 120.]

// traced_linearized
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto cubes = [](auto x) { return x * x * x; };
constexpr auto slope = [](auto x, auto along) {
  auto [value, derivative] = plx::linearize(cubes, x); // inside a traced function
  return derivative(along);
};

int main() {
  plx::array<float, 1> x{1, 2}, along{1, 10};
  std::cout << plx::jit(slope)(x, along) << '\n';
}
// [  3. 120.]

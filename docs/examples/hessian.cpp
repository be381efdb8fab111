// hessian
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto energy = [](auto x) { return x[0] * x[0] * x[1] + x[1] * x[1]; };

int main() {
  plx::array<float, 1> x{1, 3};
  std::cout << plx::hessian(energy)(x) << '\n';
}
// [[6. 2.]
//  [2. 2.]]

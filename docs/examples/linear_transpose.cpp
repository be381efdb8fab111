// linear_transpose, transposed_function
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto differences = [](auto x) { return plx::stack({x[1] - x[0], x[2] - x[1]}); };

int main() {
  plx::array<float, 1> x = plx::zeros({3}), y{1, 10}; // of x only the type and shape matter
  auto transposed = plx::linear_transpose(differences, x);
  auto [result] = transposed(y);
  std::cout << result << '\n';
}
// [-1. -9. 10.]

// unique_indices, unique_indices_t
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto product = [](auto x, auto i, auto factors) {
  auto scaled = x.at(i).multiply(factors, plx::unique_indices); // so that it has a derivative by its factors
  return plx::sum(scaled);
};

int main() {
  plx::array<float, 1> x{1, 2, 3}, factors{10, 20};
  plx::array<int, 1> i{2, 0};
  std::cout << plx::grad(product, plx::argnums<2>)(x, i, factors) << '\n';
}
// [3. 1.]

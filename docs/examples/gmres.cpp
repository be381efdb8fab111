// gmres, gmres_options
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto solve = [](auto a, auto b) {
  return plx::gmres(a, b, plx::gmres_options{.restart = 2}); // it begins again after two products
};

int main() {
  plx::array<float, 2> a{{0, 2}, {-1, 0}}; // any matrix that has an inverse
  plx::array<float, 1> b{6, -2};
  std::cout << plx::jit(solve)(a, b) << '\n';
}
// [2. 3.]

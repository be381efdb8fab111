// gmres, gmres_options
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto solve = [](auto a, auto b) {
  return plx::gmres(a, b, plx::gmres_options{{.tol = 1e-6}, 2}); // it begins again after two products
};

int main() {
  plx::array<float, 2> a{{0, 2}, {-1, 0}}; // any matrix that has an inverse
  plx::array<float, 1> b{4, -1};
  std::cout << plx::jit(solve)(a, b) << '\n';
}
// [1.        1.9999999]

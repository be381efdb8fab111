// out_axes, out_axes_t
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto powers = [](auto x) { return plx::stack({x, x * x, x * x * x}); };

int main() {
  plx::array<float, 1> x{2, 3};
  std::cout << plx::vmap(powers)(x) << '\n';
  std::cout << plx::vmap(powers, plx::in_axes<0>, plx::out_axes<1>)(x) << '\n'; // in columns
}
// [[ 2.  4.  8.]
//  [ 3.  9. 27.]]
// [[ 2.  3.]
//  [ 4.  9.]
//  [ 8. 27.]]

// jacfwd, jacobian
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto products = [](auto x) { return plx::stack({x[0] * x[1], x[1] * x[1], x[0]}); };

int main() {
  plx::array<float, 1> x{2, 5};
  std::cout << plx::jacfwd(products)(x) << '\n'; // a row for each result, a column for each argument
}
// [[ 5.  2.]
//  [ 0. 10.]
//  [ 1.  0.]]

// none, none_t
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto scaled = [](auto x, auto y) { return x * y; };

int main() {
  plx::array<float, 2> rows{{1, 2}, {3, 4}};
  plx::array<float, 1> y{1, 10};
  std::cout << plx::vmap(scaled, plx::in_axes<0, plx::none>)(rows, y) << '\n'; // all rows by the same y
}
// [[ 1. 20.]
//  [ 3. 40.]]

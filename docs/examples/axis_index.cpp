// axis_index
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto numbered = [](auto x) { return x + 100 * plx::axis_index<"i">(); };

int main() {
  plx::array<int, 1> x{7, 8, 9};
  std::cout << plx::pmap<"i">(numbered)(x) << '\n';
}
// [  7 108 209]

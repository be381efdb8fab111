// vmap, vmapped
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto dot = [](auto a, auto b) { return plx::dot(a, b); }; // of two vectors

int main() {
  plx::array<float, 2> a{{1, 2}, {3, 4}, {5, 6}}, b{{1, 1}, {2, 2}, {0, 1}};
  std::cout << plx::vmap(dot)(a, b) << '\n'; // row by row
}
// [ 3. 14.  6.]

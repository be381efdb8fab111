// concatenate
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto below = [](auto a, auto b) { return plx::concatenate({a, b}, 0); };

int main() {
  plx::array<float, 2> a{{1, 2}}, b{{3, 4}, {5, 6}};
  std::cout << plx::concatenate(a, b, plx::axis<0>) << '\n' << plx::jit(below)(a, b) << '\n';
}
// [[1. 2.]
//  [3. 4.]
//  [5. 6.]]
// [[1. 2.]
//  [3. 4.]
//  [5. 6.]]

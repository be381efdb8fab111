// dot_general
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto each = [](auto a, auto b) { return plx::dot_general(a, b, {{1}, {1}, {0}, {0}}); };

int main() {
  plx::array<float, 2> a{{1, 2, 3}, {4, 5, 6}}, b{{1, 1, 1}, {2, 2, 2}};
  std::cout << plx::jit(each)(a, b) << '\n';
}
// [ 6. 30.]

// stack
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto rows = [](auto a, auto b) { return plx::stack({a, b}); };
constexpr auto columns = [](auto a, auto b) { return plx::stack({a, b}, 1); };

int main() {
  plx::array<float, 1> a{1, 2, 3}, b{4, 5, 6};
  std::cout << plx::jit(rows)(a, b) << '\n' << plx::jit(columns)(a, b) << '\n';
}
// [[1. 2. 3.]
//  [4. 5. 6.]]
// [[1. 4.]
//  [2. 5.]
//  [3. 6.]]

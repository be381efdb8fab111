// fori_loop
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto factorial = [](auto first, auto n) {
  return plx::fori_loop(1, n + 1, [](auto i, auto product) { return product * i; }, first);
};

int main() { std::cout << plx::jit(factorial)(1, plx::count(5)) << '\n'; }
// 120

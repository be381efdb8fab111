// fori_loop
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto factorial = [](auto first, auto n) {
  return plx::fori_loop(1, n + 1, [](auto i, auto product) { return product * i; }, first);
};

int main() {
  for (int n : {3, 5}) std::cout << plx::jit(factorial)(1, plx::count(n)) << '\n';
  std::cout << plx::fori_loop(0, 10, [](auto i, auto sum) { return sum + i; }, 0) << '\n';
}
// 6
// 120
// 45

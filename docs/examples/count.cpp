// count
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto times = [](auto step, auto n) { return step * plx::arange(n); };

int main() {
  std::cout << plx::jit(times)(10, plx::count(4)) << '\n'; // compiled once, for all n
  std::cout << plx::jit(times)(10, plx::count(2)) << '\n';
}
// [ 0 10 20 30]
// [ 0 10]

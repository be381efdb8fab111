// psum_scatter
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto sums = [](auto x) { return plx::psum_scatter<"i">(x); };

int main() {
  plx::array<int, 2> x{{1, 2, 3}, {10, 20, 30}, {100, 200, 300}};
  std::cout << plx::pmap<"i">(sums)(x) << '\n'; // each device keeps one element of the sum
}
// [111 222 333]

// pmin
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto smallest = [](auto x) { return plx::pmin<"i">(x); };

int main() {
  plx::array<int, 2> x{{1, 9}, {5, 2}, {3, 4}};
  std::cout << plx::pmap<"i">(smallest, plx::in_axes<0>, plx::out_axes<plx::none>)(x) << '\n';
}
// [1 2]

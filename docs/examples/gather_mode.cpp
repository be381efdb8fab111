// gather_mode
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto stacked = [](auto x) { return plx::all_gather<"i">(x, 0, plx::gather_mode::stacked); };
constexpr auto tiled = [](auto x) { return plx::all_gather<"i">(x, 0, plx::gather_mode::tiled); };

int main() {
  plx::array<int, 2> x{{1, 2}, {3, 4}};
  std::cout << plx::pmap<"i">(stacked, plx::in_axes<0>, plx::out_axes<plx::none>)(x) << '\n';
  std::cout << plx::pmap<"i">(tiled, plx::in_axes<0>, plx::out_axes<plx::none>)(x) << '\n';
}
// [[1 2]
//  [3 4]]
// [1 2 3 4]

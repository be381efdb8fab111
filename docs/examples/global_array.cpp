// global_array
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto grid = plx::mesh<plx::device_axis("i", 4)>;
constexpr auto squared =
    plx::shard_map([](auto x) { return x * x; }, grid, plx::in_specs<plx::spec<"i">>, plx::out_specs<plx::spec<"i">>);

int main() {
  plx::array<int, 1> x{1, 2, 3, 4, 5, 6, 7, 8};
  auto y = squared(squared(x)); // a global_array: blocks of two numbers, which stay on their devices
  plx::array<int, 1> whole = y.gather();
  std::cout << whole << ' ' << y(-1) << ' ' << y.size() << '\n';
}
// [   1   16   81  256  625 1296 2401 4096] 4096 8

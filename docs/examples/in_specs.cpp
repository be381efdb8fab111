// in_specs, in_specs_t
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto grid = plx::mesh<plx::device_axis("i", 4)>;
constexpr auto scaled = [](auto x, auto factor) { return x * factor; };
// x is cut into four blocks, all devices have the factor
constexpr auto on_all =
    plx::shard_map(scaled, grid, plx::in_specs<plx::spec<"i">, plx::spec<>>, plx::out_specs<plx::spec<"i">>);

int main() {
  plx::array<float, 1> x{1, 2, 3, 4, 5, 6, 7, 8};
  std::cout << on_all(x, 10.f) << '\n';
}
// [10. 20. 30. 40. 50. 60. 70. 80.]

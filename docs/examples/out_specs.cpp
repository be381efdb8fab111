// out_specs, out_specs_t
#include <parallax/parallax.hpp>

#include <iostream>
#include <utility>

namespace plx = parallax;

constexpr auto grid = plx::mesh<plx::device_axis("i", 4)>;
constexpr auto with_sum = [](auto x) { return std::pair{2 * x, plx::psum<"i">(plx::sum(x))}; };
// the first result stays in four blocks, the second is the same on all devices
constexpr auto on_all =
    plx::shard_map(with_sum, grid, plx::in_specs<plx::spec<"i">>, plx::out_specs<plx::spec<"i">, plx::spec<>>);

int main() {
  plx::array<float, 1> x{1, 2, 3, 4};
  auto [doubled, sum] = on_all(x);
  std::cout << doubled << ' ' << sum << '\n';
}
// [2. 4. 6. 8.] 10.0

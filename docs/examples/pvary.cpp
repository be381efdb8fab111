// pvary
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto grid = plx::mesh<plx::device_axis("i", 4)>;
constexpr auto least_power = [](auto x) { // of 2 that is not below x; devices go round as often as they need
  return plx::while_loop([=](auto p) { return plx::any(p < x); }, [](auto p) { return 2 * p; },
                         plx::pvary<"i">(plx::ones_like(x)));
};
constexpr auto on_all =
    plx::shard_map(least_power, grid, plx::in_specs<plx::spec<"i">>, plx::out_specs<plx::spec<"i">>);

int main() {
  plx::array<float, 1> x{1, 3, 5, 100};
  std::cout << on_all(x) << '\n';
}
// [  1.   4.   8. 128.]

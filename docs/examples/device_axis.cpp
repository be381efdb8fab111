// device_axis
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto grid = plx::mesh<"data", plx::device_axis("model", 2)>; // "data" is as long as there are devices
constexpr auto place = [](auto x) { return x + 10 * plx::axis_index<"data">() + plx::axis_index<"model">(); };
constexpr auto placed =
    plx::shard_map(place, grid, plx::in_specs<plx::spec<"data", "model">>, plx::out_specs<plx::spec<"data", "model">>);

int main() {
  plx::array<int, 2> zeros({2, 2}, 0);
  std::cout << placed(zeros) << '\n'; // of four devices, 2 x 2
}
// [[ 0  1]
//  [10 11]]

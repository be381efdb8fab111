// mesh, mesh_t
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto grid = plx::mesh<plx::device_axis("y", 2), plx::device_axis("x", 2)>;
constexpr auto place = [](auto block) { return block + 10 * plx::axis_index<"y">() + plx::axis_index<"x">(); };
constexpr auto placed =
    plx::shard_map(place, grid, plx::in_specs<plx::spec<"y", "x">>, plx::out_specs<plx::spec<"y", "x">>);

int main() {
  plx::array<int, 2> zeros({4, 4}, 0);
  std::cout << placed(zeros) << '\n'; // each of the four devices has a block of 2 x 2
}
// [[ 0  0  1  1]
//  [ 0  0  1  1]
//  [10 10 11 11]
//  [10 10 11 11]]

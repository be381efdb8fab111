// global_from_local
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto grid = plx::mesh<plx::device_axis("y", 2), plx::device_axis("x", 2)>;

int main() {
  plx::array<int, 2> part{{1, 2}, {3, 4}}; // of this process; alone, it has all devices
  auto whole = plx::global_from_local(part, grid, plx::spec<"y", "x">, {2, 2});
  for (const auto& shard : whole.local_shards()) std::cout << shard.values << ' ';
  std::cout << whole.is_fully_addressable() << '\n';
}
// [[1]] [[2]] [[3]] [[4]] 1

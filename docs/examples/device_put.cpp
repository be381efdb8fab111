// device_put
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto grid = plx::mesh<plx::device_axis("i", 2)>;

int main() {
  plx::array<int, 1> x{1, 2, 3, 4};
  auto there = plx::device_put(x, grid, plx::spec<"i">);
  for (const auto& shard : there.local_shards()) std::cout << "device " << shard.device << ": " << shard.values << '\n';
}
// device 0: [1 2]
// device 1: [3 4]

// along, spec_entry
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto grid = plx::mesh<plx::device_axis("y", 2), plx::device_axis("x", 2)>;
constexpr plx::spec_entry both = plx::along("y", "x"); // one dimension over all four devices

int main() {
  plx::array<int, 1> x{1, 2, 3, 4, 5, 6, 7, 8};
  for (const auto& shard : plx::device_put(x, grid, plx::spec<both>).local_shards()) std::cout << shard.values << '\n';
}
// [1 2]
// [3 4]
// [5 6]
// [7 8]

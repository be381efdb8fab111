// local_shard
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto grid = plx::mesh<plx::device_axis("y", 2), plx::device_axis("x", 2)>;

int main() {
  plx::array<int, 2> x{{1, 2, 3, 4}, {5, 6, 7, 8}};
  for (const plx::local_shard<int, 2>& shard : plx::device_put(x, grid, plx::spec<"y", "x">).local_shards())
    std::cout << "from row " << shard.start[0] << ", column " << shard.start[1] << ": " << shard.values << '\n';
}
// from row 0, column 0: [[1 2]]
// from row 0, column 2: [[3 4]]
// from row 1, column 0: [[5 6]]
// from row 1, column 2: [[7 8]]

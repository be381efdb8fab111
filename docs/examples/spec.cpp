// spec, spec_t
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto grid = plx::mesh<plx::device_axis("x", 2)>;
void print(const auto& there) {
  for (const auto& shard : there.local_shards()) std::cout << shard.values << '\n';
}

int main() {
  plx::array<int, 2> m{{1, 2}, {3, 4}};
  print(plx::device_put(m, grid, plx::spec<"x">));            // a row on each of the two devices
  print(plx::device_put(m, grid, plx::spec<plx::none, "x">)); // a column
}
// [[1 2]]
// [[3 4]]
// [[1]
//  [3]]
// [[2]
//  [4]]

// shard
#include <parallax/parallax.hpp>

#include <iostream>
#include <vector>

namespace plx = parallax;

int main() {
  plx::array<float, 2> rows{{1, 2}, {3, 4}};
  auto pieces = plx::shard(rows, 0, std::vector{0, 1}); // a row on each device
  std::cout << pieces.shard_values(1)[0] << ' ' << pieces.shard_values(1)[1] << '\n';
}
// 3 4

// replicate
#include <parallax/parallax.hpp>

#include <iostream>
#include <vector>

namespace plx = parallax;

int main() {
  plx::array<float, 1> x{1, 2};
  auto copies = plx::replicate(x, std::vector{0, 1, 2});
  std::cout << copies.devices().size() << " devices, " << copies.shard_values(2)[1] << " on the last\n";
}
// 3 devices, 2 on the last

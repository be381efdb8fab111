// sharded
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto doubled = [](auto x) { return 2 * x; };

int main() {
  plx::array<float, 2> rows{{1, 2}, {3, 4}};
  plx::sharded<float, 2> y = plx::pmap<"i">(doubled)(rows); // stays on the devices
  std::cout << y.devices().size() << " devices, " << y.shard_values(1)[0] << '\n';
  plx::array whole = y.gather();
  std::cout << whole << '\n';
}
// 2 devices, 6
// [[2. 4.]
//  [6. 8.]]

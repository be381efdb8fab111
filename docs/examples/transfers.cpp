// transfers, transfer_counts, reset_transfers
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto doubled = [](auto x) { return 2 * x; };

int main() {
  plx::array<float, 2> x({4, 100}, 1.f);
  plx::reset_transfers();
  auto y = plx::pmap<"i">(doubled)(plx::pmap<"i">(doubled)(x)); // what lies between stays on the devices
  plx::transfer_counts bytes = plx::transfers();
  std::cout << bytes.host_to_device << ' ' << bytes.device_to_host << '\n';
}
// 1600 0

// exchange_cost
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto total = plx::pmap<"i">([](auto x) { return plx::psum<"i">(x); });

int main() {
  constexpr plx::program_cost c = plx::cost(total, plx::shaped<float, 4, 100>);
  for (plx::exchange_cost each : c.exchanges)
    if (each.count > 0) std::cout << each.count << " exchange of " << each.bytes << " bytes\n";
}
// 1 exchange of 1600 bytes

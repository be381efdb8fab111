// cost, program_cost
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto product = [](auto a, auto b) { return plx::dot(a, b); };

int main() {
  constexpr plx::program_cost c = plx::cost(product, plx::shaped<float, 64, 32>, plx::shaped<float, 32, 16>);
  static_assert(c.flops == 2 * 64 * 32 * 16);
  std::cout << c.flops << " operations, " << c.bytes_read << " bytes read, " << c.bytes_written << " written\n";
}
// 65536 operations, 10240 bytes read, 4096 written

// out_of_memory
#include <parallax/parallax.hpp>

#include <cstdint>
#include <iostream>

namespace plx = parallax;

int main() {
  try {
    plx::array<float, 1> huge({std::int64_t{1} << 50}, 0.f);
  } catch (const plx::out_of_memory& e) {
    std::cout << e.bytes() << " bytes are too many\n";
  }
}
// 4503599627370496 bytes are too many

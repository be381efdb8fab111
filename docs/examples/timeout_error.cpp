// timeout_error
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  try { // as a collective ends when device 3 does not come to it
    throw plx::timeout_error(0, "all_reduce", "i", 7, 120, {0, 1, 2}, {3});
  } catch (const plx::timeout_error& e) {
    std::cout << e.collective() << " over " << e.axes() << " misses device " << e.missing()[0] << '\n';
  }
}
// all_reduce over i misses device 3

// release_cached_memory
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  {
    plx::array<float, 1> large({1000000}, 0.5f);
    std::cout << plx::sum(large) << '\n';
  }
  plx::release_cached_memory(); // the system has the 4 MB again, which the cache kept for the next array
}
// 500000.0

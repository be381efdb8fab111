// pmap, pmapped
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto share = [](auto x) { return x / plx::psum<"i">(x); };

int main() {
  plx::array<float, 1> x{1, 2, 3, 4}; // one number for each device
  std::cout << plx::pmap<"i">(share)(x) << '\n';
}
// [0.1 0.2 0.3 0.4]

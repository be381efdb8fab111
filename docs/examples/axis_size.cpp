// axis_size, axis_size_t
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto share = [](auto x) { return x / plx::axis_size<"i">(); };

int main() {
  plx::array<float, 1> x{4, 8, 12, 16};
  std::cout << plx::pmap<"i">(share)(x) << '\n';
  std::cout << plx::pmap<"i">(share, plx::axis_size<4>())(x) << '\n'; // the compiler knows that there are four
}
// [1. 2. 3. 4.]
// [1. 2. 3. 4.]

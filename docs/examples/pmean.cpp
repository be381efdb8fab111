// pmean
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto centred = [](auto x) { return x - plx::pmean<"i">(x); };

int main() {
  plx::array<float, 1> x{1, 2, 3, 6};
  std::cout << plx::pmap<"i">(centred)(x) << '\n';
}
// [-2. -1.  0.  3.]

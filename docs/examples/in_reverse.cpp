// in_reverse, in_reverse_t
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto rest = [](auto x) { return plx::cumsum(x, 0, plx::in_reverse); };

int main() {
  plx::array<float, 1> x{1, 2, 3};
  std::cout << plx::jit(rest)(x) << '\n';
}
// [6. 5. 3.]

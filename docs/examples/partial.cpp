// partial, partially_applied
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto line = [](auto slope, auto offset, auto x) { return slope * x + offset; };

int main() {
  auto f = plx::partial(plx::jit(line), 2.f, 1.f); // partially_applied
  std::cout << f(plx::array<float, 1>{0, 1, 2}) << '\n';
}
// [1. 3. 5.]

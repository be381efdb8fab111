// axis_index_groups
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto pairs = [](auto x) { return plx::psum<"i">(x, plx::axis_index_groups{{0, 1}, {2, 3}}); };

int main() {
  plx::array<float, 1> x{1, 2, 3, 4};
  std::cout << plx::pmap<"i">(pairs)(x) << '\n';
}
// [3. 3. 7. 7.]

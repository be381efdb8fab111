// devices, devices_t
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto doubled = [](auto x) { return 2 * x; };

int main() {
  plx::array<float, 1> x{1, 2};
  auto y = plx::pmap(doubled, plx::devices<3, 1>)(x); // x(0) on device 3, x(1) on device 1
  std::cout << y << '\n';
}
// [2. 4.]

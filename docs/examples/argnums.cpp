// argnums, argnums_t
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto area = [](auto width, auto height) { return width * height; };

int main() {
  std::cout << plx::grad(area, plx::argnums<1>)(3.f, 5.f) << '\n';
  auto [by_width, by_height] = plx::grad(area, plx::argnums<0, -1>)(3.f, 5.f); // -1 is the last one
  std::cout << by_width << ' ' << by_height << '\n';
}
// 3.0
// 5.0 3.0

// moveaxis
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto colours_first = [](auto images) { return plx::moveaxis(images, -1, 0); };

int main() {
  plx::array<float, 3> images({8, 28, 3}, 0.f);
  plx::array moved = plx::jit(colours_first)(images);
  std::cout << moved.shape(0) << ' ' << moved.shape(1) << ' ' << moved.shape(2) << '\n';
}
// 3 8 28

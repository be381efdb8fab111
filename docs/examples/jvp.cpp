// jvp, moved
#include <parallax/parallax.hpp>

#include <iostream>
#include <tuple>

namespace plx = parallax;

constexpr auto area = [](auto width, auto height) { return width * height; };

int main() {
  auto [value, change] = plx::jvp(area, std::tuple{3.f, 5.f}, std::tuple{1.f, 10.f});
  std::cout << value << ' ' << change << '\n'; // 1 * 5 + 3 * 10
}
// 15.0 35.0

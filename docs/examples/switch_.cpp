// switch_
#include <parallax/parallax.hpp>

#include <iostream>
#include <tuple>

namespace plx = parallax;

constexpr auto add = [](auto x, auto y) { return x + y; };
constexpr auto subtract = [](auto x, auto y) { return x - y; };
constexpr auto multiply = [](auto x, auto y) { return x * y; };
constexpr auto calculate = [](auto which, auto x, auto y) {
  return plx::switch_(which, std::tuple{add, subtract, multiply}, x, y);
};

int main() {
  for (int which : {0, 1, 2}) std::cout << plx::jit(calculate)(which, 6.f, 2.f) << '\n';
}
// 8.0
// 4.0
// 12.0

// while_loop
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto power_of_two = [](auto least) {
  return plx::while_loop([=](auto x) { return x < least; }, [](auto x) { return 2 * x; }, 1.f);
};

int main() {
  std::cout << plx::jit(power_of_two)(100.f) << '\n';
  std::cout << plx::jit(power_of_two)(1000.f) << '\n';
}
// 128.0
// 1024.0

// scan
#include <parallax/parallax.hpp>

#include <iostream>
#include <utility>

namespace plx = parallax;

constexpr auto running = [](auto sum, auto x) {
  auto next = sum + x;
  return std::pair{next, 10 * next}; // the next carry, and an output
};

int main() {
  plx::array<float, 1> x{1, 2, 3};
  auto [last, outputs] = plx::scan(running, 0.f, x);
  std::cout << last << ' ' << outputs << '\n';
}
// 6.0 [10. 30. 60.]

// extent
#include <parallax/parallax.hpp>

#include <iostream>
#include <utility>

namespace plx = parallax;

constexpr auto middle = [](auto x) {
  plx::extent n = x.shape(0);
  return std::pair{x[n / 2], plx::zeros({n + 1})};
};

int main() {
  plx::array<float, 1> x{1, 2, 3, 4, 5};
  auto [element, more] = plx::jit(middle)(x);
  std::cout << element << ' ' << more << '\n';
}
// 3.0 [0. 0. 0. 0. 0. 0.]

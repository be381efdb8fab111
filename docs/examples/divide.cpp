// divide, true_divide, operator/, operator/=
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<int, 1> i{1, 3, 7}, two{2, 2, 2};
  std::cout << plx::divide(i, two) << ' ' << plx::true_divide(i, two) << ' ' << i / 2 << '\n';
  plx::array<float, 1> x{1, 2, 3};
  x /= 4;
  std::cout << x << '\n';
}
// [0.5 1.5 3.5] [0.5 1.5 3.5] [0.5 1.5 3.5]
// [0.25 0.5  0.75]

// astype
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<float, 1> x{1.7f, -1.7f, 0};
  std::cout << plx::astype<int>(x) << ' ' << plx::astype<bool>(x) << '\n';
}
// [ 1 -1  0] [ True  True False]

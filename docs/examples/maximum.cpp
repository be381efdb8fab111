// maximum
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<float, 1> x{1, 5, 3}, y{4, 2, 3};
  std::cout << plx::maximum(x, y) << ' ' << plx::maximum(x, 2) << '\n';
}
// [4. 5. 3.] [2. 5. 3.]

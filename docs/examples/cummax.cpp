// cummax
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<float, 1> x{3, 1, 4, 1, 5};
  std::cout << plx::cummax(x) << '\n';
}
// [3. 3. 4. 4. 5.]

// evaluate, lazy
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<float, 1> x{1, 2, 3};
  auto later = 2 * x + 1; // a plx::lazy, which has computed nothing yet
  auto y = plx::evaluate(later);
  std::cout << y << ' ' << y(2) << '\n';
}
// [3. 5. 7.] 7

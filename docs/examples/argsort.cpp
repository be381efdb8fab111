// argsort
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<float, 1> x{30, 10, 20};
  plx::array order = plx::argsort(x);
  std::cout << order << ' ' << x[order] << '\n';
}
// [1 2 0] [10. 20. 30.]

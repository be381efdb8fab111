// multiply, operator*, operator*=
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<float, 1> x{1, 2, 3}, y{2, 4, 6};
  std::cout << plx::multiply(x, y) << ' ' << x * y << ' ' << 10 * x << '\n';
  x *= 2;
  std::cout << x << '\n';
}
// [ 2.  8. 18.] [ 2.  8. 18.] [10. 20. 30.]
// [2. 4. 6.]

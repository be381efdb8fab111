// expand_dims
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<float, 1> x{1, 2}, y{10, 20, 30};
  plx::array column = plx::expand_dims(x, plx::axis<1>);
  std::cout << column << '\n' << column + y << '\n';
}
// [[1.]
//  [2.]]
// [[11. 21. 31.]
//  [12. 22. 32.]]

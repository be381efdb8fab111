// softmax
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<float, 2> x{{0, 0, 0, 0}, {1000, 1000, 0, 0}};
  std::cout << plx::softmax(x) << '\n';
}
// [[0.25 0.25 0.25 0.25]
//  [0.5  0.5  0.   0.  ]]

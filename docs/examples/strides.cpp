// strides, strides_t
#include <parallax/parallax.hpp>

#include <iostream>
#include <vector>

namespace plx = parallax;

int main() {
  std::vector<float> rows{1, 2, 0, 3, 4, 0}; // two rows of two numbers, three apart
  auto block = plx::borrow<plx::strides<plx::dyn, 1>>(rows, {2, 2}, {3, 1});
  std::cout << block + 0 << '\n';
}
// [[1. 2.]
//  [3. 4.]]

// borrow
#include <parallax/parallax.hpp>

#include <iostream>
#include <vector>

namespace plx = parallax;

int main() {
  std::vector<float> own{1, 2, 3, 4, 5, 6};
  plx::array<float, 2> m = plx::borrow(own, {2, 3});
  std::cout << m << '\n' << std::boolalpha << (m.data() == own.data()) << '\n';
}
// [[1. 2. 3.]
//  [4. 5. 6.]]
// true

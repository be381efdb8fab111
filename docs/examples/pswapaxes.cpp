// pswapaxes
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto swapped = [](auto x) { return plx::pswapaxes<"i">(x, 0); };

int main() {
  plx::array<int, 2> x{{1, 2}, {3, 4}};
  std::cout << plx::pmap<"i">(swapped)(x) << '\n'; // transposed, over two devices
}
// [[1 3]
//  [2 4]]

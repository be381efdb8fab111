// all_to_all
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto exchange = [](auto x) { return plx::all_to_all<"i">(x, 0, 0); };

int main() {
  plx::array<int, 2> x{{0, 1, 2}, {10, 11, 12}, {20, 21, 22}};
  std::cout << plx::pmap<"i">(exchange)(x) << '\n'; // device i gets element i of each
}
// [[ 0 10 20]
//  [ 1 11 21]
//  [ 2 12 22]]

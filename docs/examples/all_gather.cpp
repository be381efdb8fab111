// all_gather
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto everything = [](auto x) { return plx::all_gather<"i">(x); };

int main() {
  plx::array<int, 1> x{1, 2, 3};
  std::cout << plx::pmap<"i">(everything)(x) << '\n'; // each device has all three numbers
}
// [[1 2 3]
//  [1 2 3]
//  [1 2 3]]

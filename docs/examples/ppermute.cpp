// ppermute, source_destination
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto sent = [](auto x) { return plx::ppermute<"i">(x, {{0, 1}, {1, 0}, {2, 3}}); }; // from, to

int main() {
  plx::array<int, 1> x{10, 20, 30, 40};
  std::cout << plx::pmap<"i">(sent)(x) << '\n'; // nobody sends to device 2
}
// [20 10  0 30]

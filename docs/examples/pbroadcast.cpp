// pbroadcast
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto from_second = [](auto x) { return plx::pbroadcast<"i">(x, 1); };

int main() {
  plx::array<int, 1> x{5, 6, 7, 8};
  std::cout << plx::pmap<"i">(from_second)(x) << '\n';
}
// [6 6 6 6]

// rotate
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto neighbours = [](auto x) {
  return plx::ppermute<"i">(x, plx::rotate{1}) + plx::ppermute<"i">(x, plx::rotate{-1});
};

int main() {
  plx::array<int, 1> x{1, 10, 100, 1000};
  std::cout << plx::pmap<"i">(neighbours)(x) << '\n'; // in a ring
}
// [1010  101 1010  101]

// shift
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto before = [](auto x) { return plx::ppermute<"i">(x, plx::shift{1}); };
constexpr auto behind = [](auto x) { return plx::ppermute<"i">(x, plx::shift{-1}); };

int main() {
  plx::array<int, 1> x{1, 2, 3, 4};
  std::cout << plx::pmap<"i">(before)(x) << ' ' << plx::pmap<"i">(behind)(x) << '\n'; // zeros come in at the ends
}
// [0 1 2 3] [2 3 4 0]

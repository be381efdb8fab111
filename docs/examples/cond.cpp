// cond
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto halved = [](auto x) { return x / 2; };
constexpr auto kept = [](auto x) { return x; };
constexpr auto limit = [](auto x) { return plx::cond(plx::max(x) > 10, halved, kept, x); };

int main() {
  plx::array<float, 1> small{1, 2}, large{8, 16};
  std::cout << plx::jit(limit)(small) << ' ' << plx::jit(limit)(large) << '\n';
}
// [1. 2.] [4. 8.]

// length, length_t
#include <parallax/parallax.hpp>

#include <iostream>
#include <utility>

namespace plx = parallax;

constexpr auto doubled = [](auto x, auto) { return std::pair{2 * x, x}; };

int main() {
  auto [last, all] = plx::scan(doubled, 1.f, plx::none, plx::length<5>);
  std::cout << last << ' ' << all << '\n';
}
// 32.0 [ 1.  2.  4.  8. 16.]

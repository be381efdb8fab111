// map
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto norm = [](auto row) { return plx::sqrt(plx::sum(row * row)); };

int main() {
  plx::array<float, 2> rows{{3, 4}, {5, 12}};
  std::cout << plx::map(norm, rows) << '\n'; // as vmap, but row after row
}
// [ 5. 13.]

// size_of
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  std::cout << plx::size_of(plx::element_type::float64) << ' ' << plx::size_of(plx::element_type::bfloat16) << '\n';
}
// 8 2

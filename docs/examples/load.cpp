// load
#include <parallax/io/save.hpp>
#include <parallax/parallax.hpp>

#include <cstdio>
#include <iostream>

namespace plx = parallax;

int main() {
  plx::save("rows.npz", plx::array<float, 2>{{1, 2}, {3, 4}});
  auto rows = plx::load<plx::array<float, 2>>("rows.npz");
  std::cout << rows << '\n';
  try {
    auto numbers = plx::load<plx::array<int, 2>>("rows.npz");
  } catch (const plx::error&) {
    std::cout << "these are no integers\n";
  }
  std::remove("rows.npz");
}
// [[1. 2.]
//  [3. 4.]]
// these are no integers

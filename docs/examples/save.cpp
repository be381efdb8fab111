// save
#include <parallax/io/save.hpp>
#include <parallax/parallax.hpp>

#include <cstdio>
#include <iostream>
#include <utility>

namespace plx = parallax;

int main() {
  std::pair params{plx::array<float, 1>{1, 2}, plx::array<float, 0>{0.5f}};
  plx::save("params.npz", params); // numpy.load reads it too
  auto again = plx::load<decltype(params)>("params.npz");
  std::cout << again.first << ' ' << again.second << '\n';
  std::remove("params.npz");
}
// [1. 2.] 0.5

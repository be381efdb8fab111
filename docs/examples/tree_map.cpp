// tree_map
#include <parallax/parallax.hpp>

#include <iostream>
#include <utility>

namespace plx = parallax;

int main() {
  std::pair params{plx::array<float, 1>{1, 2}, plx::array<float, 0>{3}};
  std::pair gradients{plx::array<float, 1>{10, 20}, plx::array<float, 0>{30}};
  auto next = plx::tree_map([](auto p, auto g) { return plx::array(p - 0.1f * g); }, params, gradients);
  std::cout << next.first << ' ' << next.second << '\n';
}
// [0. 0.] 0.0

// tree_for_each
#include <parallax/parallax.hpp>

#include <iostream>
#include <tuple>
#include <utility>

namespace plx = parallax;

int main() {
  std::tuple params{plx::array<float, 1>{1, 2}, std::pair{plx::array<float, 0>{3}, 4.f}};
  int leaves = 0;
  plx::tree_for_each([&](const auto& leaf) { std::cout << leaf << ' ', ++leaves; }, params);
  std::cout << leaves << " leaves\n";
}
// [1. 2.] 3.0 4 3 leaves

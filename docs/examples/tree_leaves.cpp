// tree_leaves
#include <parallax/parallax.hpp>

#include <iostream>
#include <tuple>
#include <utility>

namespace plx = parallax;

int main() {
  std::tuple params{1.f, std::pair{2.f, 3.f}};
  for (float leaf : plx::tree_leaves(params)) std::cout << leaf << ' ';
  std::cout << '\n';
}
// 1 2 3

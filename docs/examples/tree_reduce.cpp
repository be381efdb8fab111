// tree_reduce
#include <parallax/parallax.hpp>

#include <iostream>
#include <utility>

namespace plx = parallax;

constexpr auto squares = [](auto tree) {
  return plx::tree_reduce([](auto total, auto leaf) { return total + plx::sum(plx::square(leaf)); }, tree, 0.f);
};

int main() {
  std::pair params{plx::array<float, 1>{1, 2}, plx::array<float, 2>{{3}, {4}}};
  std::cout << plx::jit(squares)(params) << '\n';
}
// 30.0

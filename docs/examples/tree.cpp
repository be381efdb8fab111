// tree, tree_t
#include <parallax/parallax.hpp>

#include <iostream>
#include <tuple>

namespace plx = parallax;

constexpr auto line = [](auto params, auto x) {
  auto [slope, offset] = params;
  return slope * x + offset;
};

int main() {
  plx::array<float, 1> slopes{1, 2}, x{10, 20};
  auto lines = plx::vmap(line, plx::in_axes<plx::tree<0, plx::none>, 0>); // of the tuple only the slopes are mapped
  std::cout << lines(std::tuple{slopes, 0.5f}, x) << '\n';
}
// [10.5 40.5]

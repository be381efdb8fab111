// optim::apply_updates
#include <parallax/parallax.hpp>

#include <iostream>
#include <tuple>

namespace plx = parallax;

constexpr auto applied = [](auto params, auto updates) { return plx::optim::apply_updates(params, updates); };

int main() {
  plx::array<float, 1> w{1, 2}, change{0.5f, -0.5f};
  auto [new_w, new_b] = plx::jit(applied)(std::tuple{w, 3.f}, std::tuple{change, 1.f}); // of any tree
  std::cout << new_w << ' ' << new_b << '\n';
}
// [1.5 1.5] 4.0

// optim::adamw
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto adamw = plx::optim::adamw(0.1, 0.5);
constexpr auto updates = [](auto gradient, auto state, auto w) { return adamw.update(gradient, state, w).first; };

int main() {
  plx::array<float, 1> w{2, -4}, gradient{0, 3};
  std::cout << plx::jit(updates)(gradient, adamw.init(w), w) << '\n'; // -0.1 (adam's step + 0.5 w)
}
// [-0.1         0.10000067]

// Weights that decay, without the weights.
// error: parallax: optim: update needs the parameters, a tree like the gradients, for weights that decay; call update\(gradients, state, params\)
// line: return optimiser\.update\(g, state\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto optimiser = plx::optim::adamw(0.1);
constexpr auto step = [](auto p, auto g, auto state) {
#ifdef PARALLAX_EXPECT_ERROR
  return optimiser.update(g, state);
#else
  return optimiser.update(g, state, p);
#endif
};

int main() {
  plx::array<float, plx::extents<3>> a;
  plx::jit(step)(a, a, optimiser.init(a));
}

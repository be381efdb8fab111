// Parameters in place of the state.
// error: parallax: optim: update is given the state of another optimiser, or of other parameters than the gradients are of; begin with init\(params\)
// line: return optimiser\.update\(g, p, state\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto optimiser = plx::optim::adam(0.1);
constexpr auto step = [](auto p, auto g, auto state) {
#ifdef PARALLAX_EXPECT_ERROR
  return optimiser.update(g, p, state);
#else
  return optimiser.update(g, state, p);
#endif
};

int main() {
  plx::array<float, plx::extents<3>> a;
  plx::jit(step)(a, a, optimiser.init(a));
}

// Updates that are still together with the state.
// error: parallax: apply_updates: the updates are another tree than the parameters; give the first of the two that update returns
// line: return plx::optim::apply_updates\(p, optimiser\.update\(g, state, p\)\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto optimiser = plx::optim::adam(0.1);
constexpr auto step = [](auto p, auto g, auto state) {
#ifdef PARALLAX_EXPECT_ERROR
  return plx::optim::apply_updates(p, optimiser.update(g, state, p));
#else
  return plx::optim::apply_updates(p, optimiser.update(g, state, p).first);
#endif
};

int main() {
  plx::array<float, plx::extents<3>> a;
  plx::jit(step)(a, a, optimiser.init(a));
}

// Half a cosine over no steps, which optax refuses too.
// error: cosine_decay_schedule: it decays over 0 steps; give 1 or more, behind the warm-up where there is one
// line: return plx::optim::warmup_cosine_decay_schedule\{0\., 1\., 4, 4\}\(n\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto rate = [](auto n) {
#ifdef PARALLAX_EXPECT_ERROR
  return plx::optim::warmup_cosine_decay_schedule{0., 1., 4, 4}(n);
#else
  return plx::optim::warmup_cosine_decay_schedule{0., 1., 4, 5}(n);
#endif
};

int main() { plx::jit(rate)(plx::array<int, 0>(3)); }

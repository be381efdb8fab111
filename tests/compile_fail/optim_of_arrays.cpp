// A step of an optimiser outside of traced functions.
// error: parallax: optim: update is given arrays; call it inside a traced function, such as one that jit is given
// line: static_cast<void>\(adam\.update\(a, state, a\)\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto adam = plx::optim::adam(0.1);
constexpr auto step = [](auto p, auto g, auto state) { return adam.update(g, state, p); };

int main() {
  plx::array<float, plx::extents<3>> a;
  const auto state = adam.init(a);
#ifdef PARALLAX_EXPECT_ERROR
  static_cast<void>(adam.update(a, state, a));
#else
  plx::jit(step)(a, a, state);
#endif
}

// Updates added outside of traced functions.
// error: parallax: apply_updates: it is given arrays; call it inside a traced function, such as one that jit is given
// line: plx::optim::apply_updates\(a, a\)
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto added = [](auto p, auto u) { return plx::optim::apply_updates(p, u); };

int main() {
  plx::array<float, plx::extents<3>> a;
#ifdef PARALLAX_EXPECT_ERROR
  plx::optim::apply_updates(a, a);
#else
  plx::jit(added)(a, a);
#endif
}

// A gradient of a gradient goes back through the loops of the first one's way back.
// error: grad: while_loop has no reverse mode, .*; the way back of checkpointed_scan is such a loop, so use scan for a gradient of its gradient
// line: plx::jit\(gradient\)\(x\)
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto loss = [](auto x) {
  auto round = [](auto y, auto) { return std::pair{plx::sin(y), plx::none}; };
#ifdef PARALLAX_EXPECT_ERROR
  return plx::sum(plx::checkpointed_scan<2>(round, x, plx::none, 3).first);
#else
  return plx::sum(plx::scan(round, x, plx::none, 3).first);
#endif
};
constexpr auto gradient = plx::grad([](auto x) { return plx::sum(plx::grad(loss)(x)); });

int main() {
  plx::array<float, plx::extents<3>> x;
  plx::jit(gradient)(x);
}

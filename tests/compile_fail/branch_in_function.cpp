// A branch of a function, which is shown by its own line.
// error: a traced array has no value to branch on: choose between results with plx::where, or plx::maximum and plx::minimum for std::max and std::min; branch with plx::cond, and go round with plx::while_loop
// line: if \(plx::sum\(x\) > 0\) return x;
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x) {
#ifdef PARALLAX_EXPECT_ERROR
  if (plx::sum(x) > 0) return x;
  return -x;
#else
  return plx::where(plx::sum(x) > 0, x, -x);
#endif
};

int main() {
  plx::array<float, 2> a;
  plx::jit(f)(a);
}

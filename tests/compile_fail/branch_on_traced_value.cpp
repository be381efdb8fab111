// A condition that only the call knows.
// error: a traced array has no value to branch on: choose between results with plx::where
// line: plx::jit\(\[\]\(auto x\) \{ return plx::sum\(x\) > 0 \? x : -x; \}\)\(a\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

int main() {
  plx::array<float, 1> a;
#ifdef PARALLAX_EXPECT_ERROR
  plx::jit([](auto x) { return plx::sum(x) > 0 ? x : -x; })(a);
#else
  plx::jit([](auto x) { return plx::where(plx::sum(x) > 0, x, -x); })(a);
#endif
}

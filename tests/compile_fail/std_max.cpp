// The larger of two by the standard library, which branches.
// error: a traced array has no value to branch on: choose between results with plx::where, or plx::maximum and plx::minimum for std::max and std::min; branch with plx::cond, and go round with plx::while_loop
// line: plx::jit\(\[\]\(auto x\) \{ return std::max\(x, 2 \* x\); \}\)\(a\);
#include <parallax/parallax.hpp>

#include <algorithm>

namespace plx = parallax;

int main() {
  plx::array<float, 2> a;
#ifdef PARALLAX_EXPECT_ERROR
  plx::jit([](auto x) { return std::max(x, 2 * x); })(a);
#else
  plx::jit([](auto x) { return plx::maximum(x, 2 * x); })(a);
#endif
}

// Branches that return different shapes.
// error: cond: result 0 is float32\[\] of on_false, and float32\[3\] of on_true; let branches return values of the same types and shapes
// line: plx::jit\(\[\]\(auto x\) \{ return plx::cond\(plx::sum\(x\) > 0.0f, same, total, x\); \}\)\(a\)
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto same = [](auto x) { return x; };
constexpr auto total = [](auto x) { return plx::sum(x); };

int main() {
  plx::array<float, plx::extents<3>> a;
#ifdef PARALLAX_EXPECT_ERROR
  plx::jit([](auto x) { return plx::cond(plx::sum(x) > 0.0f, same, total, x); })(a);
#else
  plx::jit([](auto x) { return plx::cond(plx::sum(x) > 0.0f, same, same, x); })(a);
#endif
}

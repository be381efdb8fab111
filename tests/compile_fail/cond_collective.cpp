// A collective in a branch that only some instances take.
// error: cond and switch_: what chooses a branch may differ between the instances of axis i, but psum inside needs all of them; decide by a value that all share, as pmax makes it, or select with where
// line: plx::pmap<"i">\(\[\]\(auto x\) \{ return plx::cond\(x > 0.0f, total, same, x\); \}\)\(a\)
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto same = [](auto x) { return x; };
constexpr auto total = [](auto x) { return plx::psum<"i">(x); };

int main() {
  plx::array<float, plx::extents<3>> a;
#ifdef PARALLAX_EXPECT_ERROR
  plx::pmap<"i">([](auto x) { return plx::cond(x > 0.0f, total, same, x); })(a);
#else
  plx::pmap<"i">([](auto x) { return plx::cond(plx::pmax<"i">(x) > 0.0f, total, same, x); })(a);
#endif
}

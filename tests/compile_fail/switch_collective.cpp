// A collective in a branch of switch_ that only some instances take.
// error: cond and switch_: what chooses a branch may differ between the instances of axis i, but psum inside needs all of them; decide by a value that all share, as pmax makes it, or select with where
// line: plx::pmap<"i">\(\[\]\(auto x\) \{ return plx::switch_\(x, std::tuple\{same, total\}, x\); \}\)\(a\)
#include <parallax/parallax.hpp>

#include <tuple>

namespace plx = parallax;

constexpr auto same = [](auto x) { return x; };
constexpr auto total = [](auto x) { return plx::psum<"i">(x); };

int main() {
  plx::array<int, plx::extents<3>> a;
#ifdef PARALLAX_EXPECT_ERROR
  plx::pmap<"i">([](auto x) { return plx::switch_(x, std::tuple{same, total}, x); })(a);
#else
  plx::pmap<"i">([](auto x) { return plx::switch_(plx::pmax<"i">(x), std::tuple{same, total}, x); })(a);
#endif
}

// A collective in a loop that instances leave one by one.
// error: a loop: the number of rounds may differ between the instances of axis i, but psum inside needs all of them; decide by a value that all share, as pmax makes it, or select with where
// line: plx::pmap<"i">\(\[\]\(auto x\) \{ return plx::while_loop\(small, shared, x\); \}\)\(a\)
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto small = [](auto x) { return x < 10.0f; };
constexpr auto all_small = [](auto x) { return plx::pmax<"i">(x) < 10.0f; };
constexpr auto shared = [](auto x) { return x + plx::psum<"i">(x); };

int main() {
  plx::array<float, plx::extents<3>> a;
#ifdef PARALLAX_EXPECT_ERROR
  plx::pmap<"i">([](auto x) { return plx::while_loop(small, shared, x); })(a);
#else
  plx::pmap<"i">([](auto x) { return plx::while_loop(all_small, shared, x); })(a);
#endif
}

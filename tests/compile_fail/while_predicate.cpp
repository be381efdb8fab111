// A predicate that is no boolean number.
// error: while_loop: the predicate returns bool\[3\]; return one boolean number, such as x < 1
// line: plx::jit\(\[\]\(auto x\) \{ return plx::while_loop\(small, twice, x\); \}\)\(a\)
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto twice = [](auto x) { return x * 2.0f; };
constexpr auto small = [](auto x) { return x < 10.0f; };
constexpr auto all_small = [](auto x) { return plx::max(x) < 10.0f; };

int main() {
  plx::array<float, plx::extents<3>> a;
#ifdef PARALLAX_EXPECT_ERROR
  plx::jit([](auto x) { return plx::while_loop(small, twice, x); })(a);
#else
  plx::jit([](auto x) { return plx::while_loop(all_small, twice, x); })(a);
#endif
}

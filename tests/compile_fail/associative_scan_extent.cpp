// A tree of combinations over a number of elements that only the call knows.
// error: associative_scan: axis 0 of float32\[n0_0\] is known to the call only; use scan, or an array of static extents
// line: plx::jit\(\[\]\(auto x\) \{ return plx::associative_scan\(add, x\); \}\)\(a\)
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto add = [](auto x, auto y) { return x + y; };

int main() {
  plx::array<float, 1> a{1, 2, 3};
  plx::array<float, plx::extents<3>> b = a;
#ifdef PARALLAX_EXPECT_ERROR
  plx::jit([](auto x) { return plx::associative_scan(add, x); })(a);
#else
  plx::jit([](auto x) { return plx::associative_scan(add, x); })(b);
#endif
}

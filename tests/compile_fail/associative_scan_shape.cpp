// A combination that is no element.
// error: associative_scan: the function returns float32\[\] for array 0 where it is given two of float32\[1\]; let it return what it is given
// line: plx::jit\(\[\]\(auto x\) \{ return plx::associative_scan\(total, x\); \}\)\(a\)
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto add = [](auto x, auto y) { return x + y; };
constexpr auto total = [](auto x, auto y) { return plx::sum(x + y); };

int main() {
  plx::array<float, plx::extents<3>> a;
#ifdef PARALLAX_EXPECT_ERROR
  plx::jit([](auto x) { return plx::associative_scan(total, x); })(a);
#else
  plx::jit([](auto x) { return plx::associative_scan(add, x); })(a);
#endif
}

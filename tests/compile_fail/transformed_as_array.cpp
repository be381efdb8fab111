// A gradient that was not called.
// error: a transformed function is no array, but gives one where it is called: plx::grad\(f\)\(x\)
// line: plx::array<float, 2> y = plx::grad\(f\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x) { return plx::sum(x); };

int main() {
  plx::array<float, 2> a;
#ifdef PARALLAX_EXPECT_ERROR
  plx::array<float, 2> y = plx::grad(f);
#else
  plx::array<float, 2> y = plx::grad(f)(a);
#endif
}

// An axis of an expression of arrays is part of its type.
// error: this expression is one for traced functions: outside of them axes are part of its type, sum\(x, plx::axis<0>\)
// line: plx::array y = plx::sum\(a, 0\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

int main() {
  plx::array<float, 2> a;
#ifdef PARALLAX_EXPECT_ERROR
  plx::array y = plx::sum(a, 0);
#else
  plx::array y = plx::sum(a, plx::axis<0>);
#endif
}

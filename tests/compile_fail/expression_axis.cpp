// An axis of an expression of arrays, which is computed outside of traced functions.
// error: this expression is one for traced functions: outside of them axes are part of its type, sum\(x, plx::axis<0>\)
// line: plx::array y = plx::expand_dims\(a \+ a, 1\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

int main() {
  plx::array<float, 2> a;
#ifdef PARALLAX_EXPECT_ERROR
  plx::array y = plx::expand_dims(a + a, 1);
#else
  plx::array y = plx::expand_dims(a + a, plx::axis<1>);
#endif
}

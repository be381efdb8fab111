// An axis of an expression of arrays, which is computed outside of traced functions.
// error: an expression takes an axis as axis<\.\.\.>, which is part of its type: expand_dims\(x, axis<1>\); plain integers are for traced arrays
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

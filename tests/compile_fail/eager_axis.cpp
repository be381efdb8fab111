// An axis of an expression of arrays is part of its type.
// error: a reduction of an array takes its axes as axis<\.\.\.>, since the result.?'s rank depends on them: sum\(x, axis<0>\); plain integers are for traced functions
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

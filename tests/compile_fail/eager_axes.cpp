// The same with a list of axes.
// error: a reduction of an array takes its axes as axis<\.\.\.>, since the result's rank depends on them: sum\(x, axis<0>\); plain integers are for traced functions
// line: plx::array y = plx::mean\(a, \{0, 1\}, plx::keepdims\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

int main() {
  plx::array<float, 2> a;
#ifdef PARALLAX_EXPECT_ERROR
  plx::array y = plx::mean(a, {0, 1}, plx::keepdims);
#else
  plx::array y = plx::mean(a, plx::axis<0, 1>, plx::keepdims);
#endif
}

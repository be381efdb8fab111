// An expression of arrays whose shapes cannot be broadcast.
// error: add: shapes float32\[3,4\] and float32\[5\] do not agree: 4 is not 5; make these extents equal, or one of them 1
// line: plx::array<float, 2> y = a \+ b;
#include <parallax/parallax.hpp>

namespace plx = parallax;

int main() {
  plx::array<float, plx::extents<3, 4>> a;
  plx::array<float, plx::extents<5>> b;
#ifdef PARALLAX_EXPECT_ERROR
  plx::array<float, 2> y = a + b;
#else
  plx::array<float, 2> y = a + a;
#endif
}

// The same where the type of the result is deduced.
// error: add: shapes float32\[3,4\] and float32\[5\] do not agree: 4 is not 5; make these extents equal, or one of them 1
// line: plx::array y = a \+ b;
#include <parallax/parallax.hpp>

namespace plx = parallax;

int main() {
  plx::array<float, plx::extents<3, 4>> a;
  plx::array<float, plx::extents<5>> b;
#ifdef PARALLAX_EXPECT_ERROR
  plx::array y = a + b;
#else
  plx::array y = a + a;
#endif
  y.shape(0);
}

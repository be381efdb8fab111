// An expression that is used as an array.
// error: an expression of arrays is computed where an array is made of it: write plx::array y = \.\.\. in place of auto, and use that
// line: float first = y\(0, 0\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

int main() {
  plx::array<float, 2> a;
#ifdef PARALLAX_EXPECT_ERROR
  auto y = a + a;
  float first = y(0, 0);
#else
  plx::array y = a + a;
  float first = y(0, 0);
#endif
}

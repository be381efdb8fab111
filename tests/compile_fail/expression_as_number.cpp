// An expression that is assigned to a number.
// error: an expression of arrays is no number: give its variable the type plx::array<float, 0>, and read that with \.item\(\)
// line: b = b - 0\.1f \* g;
#include <parallax/parallax.hpp>

namespace plx = parallax;

int main() {
  plx::array<float, 0> g(1.f);
#ifdef PARALLAX_EXPECT_ERROR
  float b = 1;
  b = b - 0.1f * g;
#else
  plx::array<float, 0> b(1.f);
  b = b - 0.1f * g;
#endif
}

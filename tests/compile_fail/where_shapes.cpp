// Choices of several shapes.
// error: where: shapes float32\[3\] and float32\[4\] do not agree: 3 is not 4
// line: return plx::where\(x > 0, x, y\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x, auto y) {
#ifdef PARALLAX_EXPECT_ERROR
  return plx::where(x > 0, x, y);
#else
  return plx::where(x > 0, x, plx::sum(y));
#endif
};

int main() {
  plx::array<float, plx::extents<3>> a;
  plx::array<float, plx::extents<4>> b;
  plx::jit(f)(a, b);
}

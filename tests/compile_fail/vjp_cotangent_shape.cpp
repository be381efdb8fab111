// A cotangent of another shape than the result.
// error: vjp: result 0 is float32\[\], but its cotangent is float32\[3\]; give one of the same type and shape
// line: plx::vjp\(total, a\)\.second\(a\)
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto total = [](auto x) { return plx::sum(x * x); };

int main() {
  plx::array<float, plx::extents<3>> a;
  plx::array<float, 0> one(1.0f);
#ifdef PARALLAX_EXPECT_ERROR
  plx::vjp(total, a).second(a);
#else
  plx::vjp(total, a).second(one);
#endif
}

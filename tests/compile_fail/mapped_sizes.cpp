// Mapped axes of several extents.
// error: pmap got inconsistent sizes for array axes to be mapped:
// error: most axes \(2 of them\) had size 10, e\.g\. axis 0 of argument 0 of type float32\[10,4\];
// error: one axis had size 5: axis 1 of argument 1 of type float32\[2,5\]; give arrays of one size along the mapped axes, or map none of those that differ
// line: auto y = plx::pmap\(f, plx::in_axes<0, 1, 0>\)\(a, b, c\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x, auto y, auto z) { return plx::sum(x) + plx::sum(y) + z; };

int main() {
  plx::array<float, plx::extents<10, 4>> a;
  plx::array<float, plx::extents<2, 5>> b;
  plx::array<float, plx::extents<10>> c;
#ifdef PARALLAX_EXPECT_ERROR
  auto y = plx::pmap(f, plx::in_axes<0, 1, 0>)(a, b, c);
#else
  auto y = plx::pmap(f, plx::in_axes<0, plx::none, 0>)(a, b, c);
#endif
}

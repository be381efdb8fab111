// The largest element along an axis without elements.
// error: max: zero-size array to reduction operation max which has no identity \(axis 0\), for float32\[0,4\]; reduce axes that have elements
// line: return plx::max\(x, 0\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x) {
#ifdef PARALLAX_EXPECT_ERROR
  return plx::max(x, 0);
#else
  return plx::max(x, 1);
#endif
};

int main() {
  plx::array<float, plx::extents<0, 4>> a;
  plx::jit(f)(a);
}

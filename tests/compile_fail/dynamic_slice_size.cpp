// A slice that is longer than the axis.
// error: dynamic_slice_in_dim: 5 elements of axis 1 of float32\[3,4\]; give at most its extent
// line: return plx::dynamic_slice_in_dim\(x, y\[0\], 5, 1\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x, auto y) {
#ifdef PARALLAX_EXPECT_ERROR
  return plx::dynamic_slice_in_dim(x, y[0], 5, 1);
#else
  return plx::dynamic_slice_in_dim(x, y[0], 4, 1);
#endif
};

int main() {
  plx::array<float, plx::extents<3, 4>> a;
  plx::array<int, plx::extents<2>> b;
  plx::jit(f)(a, b);
}

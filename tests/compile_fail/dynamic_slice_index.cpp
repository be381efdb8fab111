// A start of a slice that is no whole number.
// error: dynamic_slice_in_dim: the index float32\[\] is no whole number; convert it with plx::astype<int>
// line: return plx::dynamic_slice_in_dim\(x, y\[0\], 2, 1\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x, auto y) {
#ifdef PARALLAX_EXPECT_ERROR
  return plx::dynamic_slice_in_dim(x, y[0], 2, 1);
#else
  return plx::dynamic_slice_in_dim(x, plx::astype<int>(y[0]), 2, 1);
#endif
};

int main() {
  plx::array<float, plx::extents<3, 4>> a;
  plx::array<float, plx::extents<2>> b;
  plx::jit(f)(a, b);
}

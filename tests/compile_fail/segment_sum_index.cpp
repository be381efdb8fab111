// Segments that no whole numbers name.
// error: segment_sum: the index float32\[3\] is no whole number; convert it with plx::astype<int>
// line: return plx::segment_sum\(x, y, 2\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x, auto y) {
#ifdef PARALLAX_EXPECT_ERROR
  return plx::segment_sum(x, y, 2);
#else
  return plx::segment_sum(x, plx::astype<int>(y), 2);
#endif
};

int main() {
  plx::array<float, plx::extents<3, 4>> a;
  plx::array<float, plx::extents<3>> b;
  plx::jit(f)(a, b);
}

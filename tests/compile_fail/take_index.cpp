// An index of take that is no whole number.
// error: take: the index float32\[2\] is no whole number; convert it with plx::astype<int>
// line: plx::jit\(f\)\(a, b\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x, auto y) {
#ifdef PARALLAX_EXPECT_ERROR
  return plx::take(x, y);
#else
  return plx::take(x, plx::astype<int>(y));
#endif
};

int main() {
  plx::array<float, plx::extents<3, 4>> a;
  plx::array<float, plx::extents<2>> b;
  plx::jit(f)(a, b);
}

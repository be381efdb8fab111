// Truth values as indices.
// error: at\(i\)\.set: the index bool\[2\] is no whole number; choose by truth values with plx::where
// line: return x\.at\(y\)\.set\(0\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x, auto y) {
#ifdef PARALLAX_EXPECT_ERROR
  return x.at(y).set(0);
#else
  return x.at(plx::astype<int>(y)).set(0);
#endif
};

int main() {
  plx::array<float, plx::extents<3, 4>> a;
  plx::array<bool, plx::extents<2>> b;
  plx::jit(f)(a, b);
}

// More indices than axes.
// error: at: 3 indices for float32\[3,4\]; give at most one for each axis
// line: return x\.at\(y, y, y\)\.get\(\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x, auto y) {
#ifdef PARALLAX_EXPECT_ERROR
  return x.at(y, y, y).get();
#else
  return x.at(y, y).get();
#endif
};

int main() {
  plx::array<float, plx::extents<3, 4>> a;
  plx::array<int, plx::extents<2>> b;
  plx::jit(f)(a, b);
}

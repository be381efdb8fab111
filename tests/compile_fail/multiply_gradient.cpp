// The gradient of products whose factors may meet.
// error: grad: at\(i\)\.multiply\(y\) is not differentiated by y where positions may coincide; say plx::unique_indices where they do not
// line: plx::jit\(plx::grad\(scaled, plx::argnums<2>\)\)\(a, b, c\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto scaled = [](auto x, auto y, auto v) {
#ifdef PARALLAX_EXPECT_ERROR
  return plx::sum(x.at(y).multiply(v));
#else
  return plx::sum(x.at(y).multiply(v, plx::unique_indices));
#endif
};

int main() {
  plx::array<float, plx::extents<3, 4>> a;
  plx::array<int, plx::extents<2>> b;
  plx::array<float, plx::extents<4>> c;
  plx::jit(plx::grad(scaled, plx::argnums<2>))(a, b, c);
}

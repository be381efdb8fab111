// Axes in parentheses.
// error: in_axes|missing template arguments
// line: plx::vmap\(f, plx::in_axes\(0\)\)\(a\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x) { return x; };

int main() {
  plx::array<float, 2> a;
#ifdef PARALLAX_EXPECT_ERROR
  plx::vmap(f, plx::in_axes(0))(a);
#else
  plx::vmap(f, plx::in_axes<0>)(a);
#endif
}

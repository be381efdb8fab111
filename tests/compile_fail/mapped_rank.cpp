// An argument without the axis that is mapped.
// error: vmap was requested to map its argument along axis 1, which implies that its rank should be at least 2, but is only 1 \(its shape is float32\[4\]\); choose another axis, or none
// line: auto y = plx::vmap\(f, plx::in_axes<1>\)\(a\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x) { return x; };

int main() {
  plx::array<float, plx::extents<4>> a;
#ifdef PARALLAX_EXPECT_ERROR
  auto y = plx::vmap(f, plx::in_axes<1>)(a);
#else
  auto y = plx::vmap(f, plx::in_axes<0>)(a);
#endif
}

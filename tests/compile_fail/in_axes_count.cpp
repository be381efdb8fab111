// More entries than arguments.
// error: vmap in_axes must be a tree prefix of the corresponding value, but got len\(in_axes\)=3, len\(args\)=2; give one entry for all or one for each
// line: auto y = plx::vmap\(f, plx::in_axes<0, plx::none, 0>\)\(a, a\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x, auto y) { return x + y; };

int main() {
  plx::array<float, 2> a;
#ifdef PARALLAX_EXPECT_ERROR
  auto y = plx::vmap(f, plx::in_axes<0, plx::none, 0>)(a, a);
#else
  auto y = plx::vmap(f, plx::in_axes<0, plx::none>)(a, a);
#endif
}

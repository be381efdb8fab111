// Entries for results that are not there.
// error: vmap out_axes must be a tree prefix of the corresponding value, but got len\(out_axes\)=2, len\(results\)=1; give one entry for all or one for each
// line: auto y = plx::vmap\(f, plx::out_axes<0, 0>\)\(a\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x) { return x; };

int main() {
  plx::array<float, 2> a;
#ifdef PARALLAX_EXPECT_ERROR
  auto y = plx::vmap(f, plx::out_axes<0, 0>)(a);
#else
  auto y = plx::vmap(f, plx::out_axes<1>)(a);
#endif
}

// An entry that is no axis.
// error: vmap in_axes must be an int, none, or a tree of entries corresponding to the arguments; give one such entry per argument
// line: auto y = plx::vmap\(f, plx::in_axes<true>\)\(a\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x) { return x; };

int main() {
  plx::array<float, 2> a;
#ifdef PARALLAX_EXPECT_ERROR
  auto y = plx::vmap(f, plx::in_axes<true>)(a);
#else
  auto y = plx::vmap(f, plx::in_axes<1>)(a);
#endif
}

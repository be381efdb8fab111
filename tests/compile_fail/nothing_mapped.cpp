// A mapping over nothing.
// error: vmap must have at least one non-None value in in_axes; map at least one array argument
// line: auto y = plx::vmap\(f, plx::in_axes<plx::none>\)\(a\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x) { return x; };

int main() {
  plx::array<float, 1> a;
#ifdef PARALLAX_EXPECT_ERROR
  auto y = plx::vmap(f, plx::in_axes<plx::none>)(a);
#else
  auto y = plx::vmap(f)(a);
#endif
}

// Devices for an inner pmap.
// error: pmap: Nested pmap with explicit devices argument; give devices to the outermost pmap only
// line: auto y = plx::pmap\(inner\)\(x\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x) { return x; };
#ifdef PARALLAX_EXPECT_ERROR
constexpr auto inner = plx::pmap(f, plx::devices<0, 1>);
#else
constexpr auto inner = plx::pmap(f);
#endif

int main() {
  plx::array<float, 2> x;
  auto y = plx::pmap(inner)(x);
}

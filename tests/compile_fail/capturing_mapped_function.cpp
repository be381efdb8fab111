// The same inside a pmap.
// error: the outermost function must not capture: make captured functions static constexpr, and pass captured values as arguments
// line: auto y = plx::pmap\(scaled\)\(x\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

int main() {
  float rate = 0.5f;
  plx::array<float, 1> x;
  auto scaled = [rate](auto p) { return rate * p; };
#ifdef PARALLAX_EXPECT_ERROR
  auto y = plx::pmap(scaled)(x);
#endif
  plx::array z = scaled(x);
}

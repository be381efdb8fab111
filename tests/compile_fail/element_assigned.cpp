// An element that is written.
// error: a variable that names a traced array can name other traced arrays only: for one of numbers write plx::full_like\(x, 1\); x with elements changed is x\.at\(i\)\.set\(y\)
// line: x\[0\] = 1\.f;
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x) {
#ifdef PARALLAX_EXPECT_ERROR
  x[0] = 1.f;
  return x;
#else
  return x.at(0).set(1.f);
#endif
};

int main() {
  plx::array<float, plx::extents<3>> a;
  plx::jit(f)(a);
}

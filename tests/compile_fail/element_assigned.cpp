// An element that is written.
// error: a traced array has no operator\[\]: take one index of an axis with plx::index_in_dim, several with plx::slice_in_dim or plx::slice; it is never changed: to write, build a new array with plx::where or plx::concatenate
// line: x\[0\] = 1\.f;
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x) {
#ifdef PARALLAX_EXPECT_ERROR
  x[0] = 1.f;
  return x;
#else
  return plx::where(plx::arange(3) == 0, 1.f, x);
#endif
};

int main() {
  plx::array<float, plx::extents<3>> a;
  plx::jit(f)(a);
}

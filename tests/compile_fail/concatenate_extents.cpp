// Arrays that cannot be joined.
// error: concatenate: shapes float32\[3,4\] and float32\[4,3\] do not agree: 4 is not 3; make these extents equal
// line: return plx::concatenate\(\{x, plx::transpose\(x\)\}, 0\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x) {
#ifdef PARALLAX_EXPECT_ERROR
  return plx::concatenate({x, plx::transpose(x)}, 0);
#else
  return plx::concatenate({x, x}, 0);
#endif
};

int main() {
  plx::array<float, plx::extents<3, 4>> a;
  plx::jit(f)(a);
}

// Arrays of several ranks that are joined.
// error: concatenate:
// line: return plx::concatenate\(\{x, plx::sum\(x, 0\)\}, 0\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x) {
#ifdef PARALLAX_EXPECT_ERROR
  return plx::concatenate({x, plx::sum(x, 0)}, 0);
#else
  return plx::concatenate({x, x}, 0);
#endif
};

int main() {
  plx::array<float, plx::extents<3, 4>> a;
  plx::jit(f)(a);
}

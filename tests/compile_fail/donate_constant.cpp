// A donated argument that cannot be moved from.
// error: parallax: what is donated is moved from: pass an array, or a tree of arrays, that is not const and no expression
#include <parallax/parallax.hpp>

namespace plx = parallax;

int main() {
  constexpr auto twice = plx::jit([](auto x) { return x * 2.f; }, plx::donate<0>);
#ifdef PARALLAX_EXPECT_ERROR
  const plx::array<float, 1> x{1, 2, 3};
#else
  plx::array<float, 1> x{1, 2, 3};
#endif
  return twice(x).size() == 3 ? 0 : 1;
}

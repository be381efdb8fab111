// A permutation that is none.
// error: transpose:
// line: return plx::transpose\(x, \{0, 0\}\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x) {
#ifdef PARALLAX_EXPECT_ERROR
  return plx::transpose(x, {0, 0});
#else
  return plx::transpose(x, {1, 0});
#endif
};

int main() {
  plx::array<float, 2> a;
  plx::jit(f)(a);
}

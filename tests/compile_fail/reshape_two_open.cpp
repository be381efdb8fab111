// A reshape that leaves two extents open.
// error: reshape: cannot reshape array float32\[3,4\] of size 12 into shape \(-1,-1\); one extent may be -1, no other is negative
// line: return plx::reshape\(x, \{-1, -1\}\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x) {
#ifdef PARALLAX_EXPECT_ERROR
  return plx::reshape(x, {-1, -1});
#else
  return plx::reshape(x, {-1, 2});
#endif
};

int main() {
  plx::array<float, plx::extents<3, 4>> a;
  plx::jit(f)(a);
}

// A permutation of too few axes.
// error: transpose: 1 axes given for an array of dimension 2; name every axis once
// line: return plx::transpose\(x, \{0\}\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x) {
#ifdef PARALLAX_EXPECT_ERROR
  return plx::transpose(x, {0});
#else
  return plx::transpose(x, {1, 0});
#endif
};

int main() {
  plx::array<float, plx::extents<3, 4>> a;
  plx::jit(f)(a);
}

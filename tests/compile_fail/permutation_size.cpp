// A partial permutation of a vmapped axis.
// error: ppermute: Permutation doesn't match the axis size! Over a vmapped axis of size 2 give every instance one source
// line: auto y = plx::vmap<.+i.+>\(f\)\(x\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x) {
#ifdef PARALLAX_EXPECT_ERROR
  return plx::ppermute<"i">(x, {{0, 1}});
#else
  return plx::ppermute<"i">(x, {{0, 1}, {1, 0}});
#endif
};

int main() {
  plx::array<float, plx::extents<2>> x;
  auto y = plx::vmap<"i">(f)(x);
}

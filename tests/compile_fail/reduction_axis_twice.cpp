// One axis, named twice.
// error: mean: axis -2 is given twice; name every axis at most once
// line: return plx::mean\(x, \{0, -2\}\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x) {
#ifdef PARALLAX_EXPECT_ERROR
  return plx::mean(x, {0, -2});
#else
  return plx::mean(x, {0, -1});
#endif
};

int main() {
  plx::array<float, plx::extents<3, 4>> a;
  plx::jit(f)(a);
}

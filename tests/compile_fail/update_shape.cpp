// Updates that are not of the shape of what they change.
// error: at\(i\)\.add: shapes int32\[2\] and float32\[2,4\] do not agree: 2 is not 4; give updates of the shape of the elements that they change, or one that broadcasts to it
// line: return x\.at\(y\)\.add\(y\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x, auto y) {
#ifdef PARALLAX_EXPECT_ERROR
  return x.at(y).add(y);
#else
  return x.at(y).add(plx::reshape(y, {2, 1}));
#endif
};

int main() {
  plx::array<float, plx::extents<3, 4>> a;
  plx::array<int, plx::extents<2>> b;
  plx::jit(f)(a, b);
}

// An extent that is a product of more extents than a program can write down.
// error: reshape: an extent or a number of elements is a product of more than 16 extents that are known at the call only; give some arguments static extents
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x, auto y) {
  auto e = plx::ravel(plx::outer(plx::ravel(x), plx::ravel(x)));
#ifdef PARALLAX_EXPECT_ERROR
  return plx::ravel(plx::outer(e, y));
#else
  return e + plx::sum(y);
#endif
};

int main() {
  plx::array<float, 8> x;
  plx::array<float, 1> y;
  plx::jit(f)(x, y);
}

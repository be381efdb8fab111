// A result of more dimensions than an array may have.
// error: expand_dims: the result has 9 dimensions; parallax supports at most 8
// line: return plx::expand_dims\(x, 0\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x) {
#ifdef PARALLAX_EXPECT_ERROR
  return plx::expand_dims(x, 0);
#else
  return x;
#endif
};

int main() {
  plx::array<float, plx::extents<1, 1, 1, 1, 1, 1, 1, 2>> a;
  plx::jit(f)(a);
}

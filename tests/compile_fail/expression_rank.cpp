// An expression of another rank than the array.
// error: an expression has another number of dimensions, or other static extents, than the array: change them with plx::reshape, or let the array take them: plx::array y = \.\.\.
// line: plx::array<float, 1> y = a \+ a;
#include <parallax/parallax.hpp>

namespace plx = parallax;

int main() {
  plx::array<float, 2> a;
#ifdef PARALLAX_EXPECT_ERROR
  plx::array<float, 1> y = a + a;
#else
  plx::array<float, 1> y = plx::ravel(a + a);
#endif
}

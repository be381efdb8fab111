// An expression of other elements than the array.
// error: an expression has elements of one type, and the array of another: convert it with plx::astype<T>\(\.\.\.\), or let the array take its type: plx::array y = \.\.\.
// line: plx::array<int, 2> y = a \+ a;
#include <parallax/parallax.hpp>

namespace plx = parallax;

int main() {
  plx::array<float, 2> a;
#ifdef PARALLAX_EXPECT_ERROR
  plx::array<int, 2> y = a + a;
#else
  plx::array<int, 2> y = plx::astype<int>(a + a);
#endif
}

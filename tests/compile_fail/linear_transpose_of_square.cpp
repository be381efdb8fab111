// The transpose of a function that is not linear.
// error: linear_transpose: the function is not linear in its arguments, as its derivative depends on where they are; use vjp, which is given them
// line: plx::linear_transpose\(squares, a\)\(a\)
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto squares = [](auto x) { return x * x; };
constexpr auto sums = [](auto x) { return plx::cumsum(x); };

int main() {
  plx::array<float, plx::extents<3>> a;
#ifdef PARALLAX_EXPECT_ERROR
  plx::linear_transpose(squares, a)(a);
#else
  plx::linear_transpose(sums, a)(a);
#endif
}

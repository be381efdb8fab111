// An expression of constants that only traced functions know what to do with.
// error: this expression is one for traced functions: outside of them axes are part of its type, sum\(x, plx::axis<0>\)
// line: plx::array y = plx::sum\(plx::reshape\(plx::arange\(6\), \{2, 3\}\), 1\)
#include <parallax/parallax.hpp>

namespace plx = parallax;

int main() {
#ifdef PARALLAX_EXPECT_ERROR
  plx::array y = plx::sum(plx::reshape(plx::arange(6), {2, 3}), 1);
#else
  plx::array y = plx::sum(plx::reshape(plx::arange(6), {2, 3}), plx::axis<1>);
#endif
}

// A size that is given is that of the axis.
// error: pmap: Specified axis_size 8 does not match received axis_size 4; give as many elements as that
// line: auto y = plx::pmap\(plx::tanh, plx::axis_size<8>\(\)\)\(a\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

int main() {
  plx::array<float, plx::extents<4, 6>> a;
#ifdef PARALLAX_EXPECT_ERROR
  auto y = plx::pmap(plx::tanh, plx::axis_size<8>())(a);
#else
  auto y = plx::pmap(plx::tanh, plx::axis_size<4>())(a);
#endif
}

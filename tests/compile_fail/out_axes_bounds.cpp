// A place for the mapped axis that the result does not have.
// error: vmap out_axes: axis -4 is out of bounds for array of dimension 2; give an axis from -2 to 1
// line: auto y = plx::vmap\(f, plx::out_axes<-4>\)\(a\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x) { return x; };

int main() {
  plx::array<float, 2> a;
#ifdef PARALLAX_EXPECT_ERROR
  auto y = plx::vmap(f, plx::out_axes<-4>)(a);
#else
  auto y = plx::vmap(f, plx::out_axes<-2>)(a);
#endif
}

// A cumulative sum along an axis that the array does not have.
// error: cumsum: axis 2 is out of bounds for array of dimension 2; give an axis from -2 to 1
// line: return plx::cumsum\(x, 2\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x) {
#ifdef PARALLAX_EXPECT_ERROR
  return plx::cumsum(x, 2);
#else
  return plx::cumsum(x, 1);
#endif
};

int main() {
  plx::array<float, plx::extents<3, 4>> a;
  plx::jit(f)(a);
}

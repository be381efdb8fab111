// A sort along an axis that the array does not have.
// error: sort: axis -3 is out of bounds for array of dimension 2; give an axis from -2 to 1
// line: return plx::sort\(x, -3\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x) {
#ifdef PARALLAX_EXPECT_ERROR
  return plx::sort(x, -3);
#else
  return plx::sort(x, -2);
#endif
};

int main() {
  plx::array<float, plx::extents<3, 4>> a;
  plx::jit(f)(a);
}

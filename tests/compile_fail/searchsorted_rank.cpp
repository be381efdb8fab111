// A search in an array that is no row.
// error: searchsorted: float32\[3,4\] is not one row; give a sorted array of one dimension
// line: return plx::searchsorted\(x, 2\.0\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x) {
#ifdef PARALLAX_EXPECT_ERROR
  return plx::searchsorted(x, 2.0);
#else
  return plx::searchsorted(plx::sum(x, 0), 2.0);
#endif
};

int main() {
  plx::array<float, plx::extents<3, 4>> a;
  plx::jit(f)(a);
}

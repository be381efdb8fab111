// A slice beyond the array.
// error: slice: from 0 to 9 is not within axis 1 of float32\[3,4\]; give 0 <= start <= limit <= extent
// line: return plx::slice\(x, \{0, 0\}, \{3, 9\}\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x) {
#ifdef PARALLAX_EXPECT_ERROR
  return plx::slice(x, {0, 0}, {3, 9});
#else
  return plx::slice(x, {0, 0}, {3, 2});
#endif
};

int main() {
  plx::array<float, plx::extents<3, 4>> a;
  plx::jit(f)(a);
}

// A position beyond the array.
// error: index_in_dim: index 3 is out of bounds for axis 0 of float32\[3,4\]; give an index from -3 to 2
// line: return plx::index_in_dim\(x, 3\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x) {
#ifdef PARALLAX_EXPECT_ERROR
  return plx::index_in_dim(x, 3);
#else
  return plx::index_in_dim(x, -3);
#endif
};

int main() {
  plx::array<float, plx::extents<3, 4>> a;
  plx::jit(f)(a);
}

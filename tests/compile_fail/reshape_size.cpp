// A reshape that changes the number of elements.
// error: reshape: cannot reshape array float32\[3,4\] of size 12 into shape \(5,2\); the numbers of elements must be equal
// line: return plx::reshape\(x, \{5, 2\}\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x) {
#ifdef PARALLAX_EXPECT_ERROR
  return plx::reshape(x, {5, 2});
#else
  return plx::reshape(x, {6, 2});
#endif
};

int main() {
  plx::array<float, plx::extents<3, 4>> a;
  plx::jit(f)(a);
}

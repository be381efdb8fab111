// A shape as a whole.
// error: shape takes an axis, x\.shape\(0\), and is one extent; x\.rank\(\) is their number
// line: if \(x\.shape\(\) == x\.shape\(\)\) return x;
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x) {
#ifdef PARALLAX_EXPECT_ERROR
  if (x.shape() == x.shape()) return x;
  return -x;
#else
  if (x.shape(0) == x.shape(0)) return x;
  return -x;
#endif
};

int main() {
  plx::array<float, 2> a;
  plx::jit(f)(a);
}

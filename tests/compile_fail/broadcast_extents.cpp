// A broadcast to another extent.
// error: broadcast_to: cannot broadcast float32\[3,4\] to shape \(3,5\); each extent stays or was 1
// line: return plx::broadcast_to\(x, \{3, 5\}\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x) {
#ifdef PARALLAX_EXPECT_ERROR
  return plx::broadcast_to(x, {3, 5});
#else
  return plx::broadcast_to(x, {3, 4});
#endif
};

int main() {
  plx::array<float, plx::extents<3, 4>> a;
  plx::jit(f)(a);
}

// More of the largest elements than there are.
// error: top_k: k is 5 for the last axis of float32\[3,4\]; give a k from 0 to its extent
// line: return plx::top_k\(x, 5\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x) {
#ifdef PARALLAX_EXPECT_ERROR
  return plx::top_k(x, 5);
#else
  return plx::top_k(x, 4);
#endif
};

int main() {
  plx::array<float, plx::extents<3, 4>> a;
  plx::jit(f)(a);
}

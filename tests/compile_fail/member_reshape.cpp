// A shape as NumPy changes it.
// error: arrays have no member functions for operations: write plx::sum\(x\), plx::transpose\(x\), plx::dot\(x, y\)
// line: return x\.reshape\(\{2, 3\}\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x) {
#ifdef PARALLAX_EXPECT_ERROR
  return x.reshape({2, 3});
#else
  return plx::reshape(x, {2, 3});
#endif
};

int main() {
  plx::array<float, plx::extents<3, 2>> a;
  plx::jit(f)(a);
}

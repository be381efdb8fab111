// The transposed array as NumPy writes it.
// error: arrays have no member T: write plx::transpose\(x\)
// line: return plx::dot\(x\.T, x\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x) {
#ifdef PARALLAX_EXPECT_ERROR
  return plx::dot(x.T, x);
#else
  return plx::dot(plx::transpose(x), x);
#endif
};

int main() {
  plx::array<float, 2> a;
  plx::jit(f)(a);
}

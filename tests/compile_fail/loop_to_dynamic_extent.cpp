// A loop whose end only the call knows.
// error: number: this extent is known at the call only; give the array a static extent to use it as a number
// line: for \(int i = 0; i < x.shape\(0\); \+\+i\) x = plx::tanh\(x\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x) {
#ifdef PARALLAX_EXPECT_ERROR
  for (int i = 0; i < x.shape(0); ++i) x = plx::tanh(x);
#else
  for (int i = 0; i < x.shape(1); ++i) x = plx::tanh(x);
#endif
  return x;
};

int main() {
  plx::array<float, plx::extents<plx::dyn, 3>> a;
  plx::jit(f)(a);
}

// A number that only the call knows.
// error: number: this extent is known at the call only; give the array a static extent to use it as a number
// line: return x / static_cast<float>\(x\.shape\(0\)\.number\(\)\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x) {
#ifdef PARALLAX_EXPECT_ERROR
  return x / static_cast<float>(x.shape(0).number());
#else
  return x / x.shape(0);
#endif
};

int main() {
  plx::array<float, 2> a;
  plx::jit(f)(a);
}

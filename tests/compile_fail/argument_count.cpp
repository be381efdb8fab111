// A function of two arguments that is called with one.
// error: jit: the function takes 2 arguments, but was called with 1
// line: plx::jit\(f\)\(a\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x, auto y) { return x + y; };

int main() {
  plx::array<float, 2> a;
#ifdef PARALLAX_EXPECT_ERROR
  plx::jit(f)(a);
#else
  plx::jit(f)(a, a);
#endif
}

// Only the type of the outermost function reaches the compiler.
// error: the outermost function must not capture: make captured functions static constexpr, and pass captured values as arguments
// line: plx::array y = plx::jit\(\[rate\]\(auto p\) \{ return rate \* p; \}\)\(x\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

int main() {
  float rate = 0.5f;
  plx::array<float, 1> x;
#ifdef PARALLAX_EXPECT_ERROR
  plx::array y = plx::jit([rate](auto p) { return rate * p; })(x);
#else
  plx::array y = plx::jit([](auto r, auto p) { return r * p; })(rate, x);
#endif
}

// The same of a differentiated function, inside another one.
// error: grad: the function takes 2 arguments, but was called with 1
// line: plx::jit\(\[\]\(auto x\) \{ return plx::grad\(f\)\(x\); \}\)\(a\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x, const auto& y) { return plx::sum(x + y); };

int main() {
  plx::array<float, 2> a;
#ifdef PARALLAX_EXPECT_ERROR
  plx::jit([](auto x) { return plx::grad(f)(x); })(a);
#else
  plx::jit([](auto x) { return plx::grad(f)(x, x); })(a);
#endif
}

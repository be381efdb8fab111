// A gradient that is given its arguments at once.
// error: grad returns a function: call it with the arguments, plx::grad\(f\)\(x\); those to differentiate with respect to are named by plx::argnums<0, 1>
// line: auto g = plx::grad\(f, a\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x) { return plx::sum(x); };

int main() {
  plx::array<float, 2> a;
#ifdef PARALLAX_EXPECT_ERROR
  auto g = plx::grad(f, a);
#else
  auto g = plx::grad(f)(a);
#endif
}

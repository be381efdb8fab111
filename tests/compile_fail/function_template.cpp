// A function template, which is no object.
// error: no matching function for call to .jit|no instance of function template .*jit
// line: plx::jit\(g\)\(a\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

template <class X> constexpr auto g(X x) { return x + x; }

int main() {
  plx::array<float, 2> a;
#ifdef PARALLAX_EXPECT_ERROR
  plx::jit(g)(a);
#else
  plx::jit([](auto x) { return g(x); })(a);
#endif
}

// The same of a mapped function.
// error: pmap: the function takes 2 arguments, but was called with 3
// line: plx::pmap\(f\)\(a, a, a\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x, auto y) { return x + y; };

int main() {
  plx::array<float, 2> a;
#ifdef PARALLAX_EXPECT_ERROR
  plx::pmap(f)(a, a, a);
#else
  plx::pmap(f)(a, a);
#endif
}

// An axis of an expression inside a traced function.
// error: an expression takes an axis as axis<\.\.\.>, which is part of its type: expand_dims\(x, axis<1>\); plain integers are for traced arrays
// line: plx::jit\(\[\]\(auto x\) \{ return x \+ plx::expand_dims\(plx::arange\(5\) \+ 1, 1\); \}\)\(a\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

int main() {
  plx::array<float, 2> a;
#ifdef PARALLAX_EXPECT_ERROR
  plx::jit([](auto x) { return x + plx::expand_dims(plx::arange(5) + 1, 1); })(a);
#else
  plx::jit([](auto x) { return x + plx::expand_dims(plx::arange(5) + 1, plx::axis<1>); })(a);
#endif
}

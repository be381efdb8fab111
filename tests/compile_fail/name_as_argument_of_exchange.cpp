// The same of collectives that only move values.
// error: the name of a mapped axis is a template argument: plx::psum<.+i.+>\(x\), and so for every collective
// line: plx::pmap<.+>\(\[\]\(auto x\) \{ return plx::ppermute\(x, .+\); \}\)\(a\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

int main() {
  plx::array<float, 2> a;
#ifdef PARALLAX_EXPECT_ERROR
  plx::pmap<"i">([](auto x) { return plx::ppermute(x, "i", plx::rotate{1}); })(a);
#else
  plx::pmap<"i">([](auto x) { return plx::ppermute<"i">(x, plx::rotate{1}); })(a);
#endif
}

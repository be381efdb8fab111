// The name of an axis as JAX gives it.
// error: the name of a mapped axis is a template argument: plx::psum<.+i.+>\(x\), and so for every collective
// line: plx::pmap<.+>\(\[\]\(auto x\) \{ return plx::psum\(x, .+\); \}\)\(a\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

int main() {
  plx::array<float, 2> a;
#ifdef PARALLAX_EXPECT_ERROR
  plx::pmap<"i">([](auto x) { return plx::psum(x, "i"); })(a);
#else
  plx::pmap<"i">([](auto x) { return plx::psum<"i">(x); })(a);
#endif
}

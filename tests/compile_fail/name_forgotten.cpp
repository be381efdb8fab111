// A collective over no axis.
// error: psum: no axis is named: name it as a template argument, plx::psum<.+i.+>
// line: plx::pmap<.+>\(\[\]\(auto x\) \{ return plx::psum\(x\); \}\)\(a\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

int main() {
  plx::array<float, 2> a;
#ifdef PARALLAX_EXPECT_ERROR
  plx::pmap<"i">([](auto x) { return plx::psum(x); })(a);
#else
  plx::pmap<"i">([](auto x) { return plx::psum<"i">(x); })(a);
#endif
}

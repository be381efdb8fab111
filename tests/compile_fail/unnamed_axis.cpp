// A collective in a map without a name.
// error: psum: unbound axis name: i; no axis name is bound here: map the function with pmap<.+i.+> or vmap<.+i.+>
// line: plx::pmap\(\[\]\(auto x\) \{ return plx::psum<.+>\(x\); \}\)\(a\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

int main() {
  plx::array<float, 2> a;
#ifdef PARALLAX_EXPECT_ERROR
  plx::pmap([](auto x) { return plx::psum<"i">(x); })(a);
#else
  plx::pmap<"i">([](auto x) { return plx::psum<"i">(x); })(a);
#endif
}

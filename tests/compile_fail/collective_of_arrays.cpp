// A collective outside of all functions.
// error: psum: unbound axis name: i; no axis name is bound here: map the function with pmap<.+i.+> or vmap<.+i.+>
// line: plx::array y = plx::psum<.+>\(a\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

int main() {
  plx::array<float, 2> a;
#ifdef PARALLAX_EXPECT_ERROR
  plx::array y = plx::psum<"i">(a);
#else
  plx::array y = plx::pmap<"i">([](auto x) { return plx::psum<"i">(x); })(a);
#endif
}

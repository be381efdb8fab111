// A name where no mapping binds any.
// error: axis_index: unbound axis name: i; no axis name is bound here: map the function with pmap<.+i.+> or vmap<.+i.+>
// line: auto y = plx::jit\(f\)\(x\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x) {
  return x * plx::axis_index<"i">();
};

int main() {
  plx::array<float, 2> x;
#ifdef PARALLAX_EXPECT_ERROR
  auto y = plx::jit(f)(x);
#else
  auto y = plx::vmap<"i">(f)(x);
#endif
}

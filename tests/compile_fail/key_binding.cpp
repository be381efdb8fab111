// Keys that are bound to names, as in Python.
// error: structured bindings take trees apart, and this is one array: its slices are x\[0\], x\[1\]; keys come one by one from plx::random::split<2>\(key\)
// errors: 3
// line: plx::jit\(draw\)\(key\)
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto draw = [](auto key) {
#ifdef PARALLAX_EXPECT_ERROR
  auto [a, b] = plx::random::split(key);
#else
  auto [a, b] = plx::random::split<2>(key);
#endif
  return plx::random::normal(a, {3}) - plx::random::normal(b, {3});
};

int main() {
  const plx::array key = plx::random::key(0);
  plx::jit(draw)(key);
}

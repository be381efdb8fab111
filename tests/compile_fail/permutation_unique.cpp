// Two instances that send to one.
// error: ppermute: sources and destinations must be unique, got \(\(0, 1\), \(1, 1\)\); name every instance at most once as a source and once as a destination
// line: return plx::ppermute<.+i.+>\(x, \{\{0, 1\}, \{1, 1\}\}\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x) {
#ifdef PARALLAX_EXPECT_ERROR
  return plx::ppermute<"i">(x, {{0, 1}, {1, 1}});
#else
  return plx::ppermute<"i">(x, {{0, 1}, {1, 0}});
#endif
};

int main() {
  plx::array<float, 1> x;
  plx::pmap<"i">(f)(x);
}

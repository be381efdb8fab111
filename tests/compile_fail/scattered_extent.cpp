// An axis that does not have one slice per instance.
// error: psum_scatter: reduce_scatter operand scatter dimension size 4 must match shard count 2; use gather_mode::tiled to divide a longer one
// line: return plx::psum_scatter<.+i.+>\(x\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x) {
#ifdef PARALLAX_EXPECT_ERROR
  return plx::psum_scatter<"i">(x);
#else
  return plx::psum_scatter<"i">(x, 0, plx::gather_mode::tiled);
#endif
};

int main() {
  plx::array<float, plx::extents<2, 4>> x;
  plx::pmap<"i">(f)(x);
}

// A result that differs between the instances has no place without its axis.
// error: pmap has mapped output \(axis_name=.?'batch.?'\) but out_axes is None: result 0 differs between instances; give it an axis, or reduce it first with psum, pmean or another collective
// line: auto y = plx::pmap<.+batch.+>\(f, plx::out_axes<plx::none>\)\(a\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x) { return x + 1; };

int main() {
  plx::array<float, 2> a;
#ifdef PARALLAX_EXPECT_ERROR
  auto y = plx::pmap<"batch">(f, plx::out_axes<plx::none>)(a);
#else
  auto y = plx::pmap<"batch">(f, plx::out_axes<0>)(a);
#endif
}

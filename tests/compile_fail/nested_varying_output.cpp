// A result of an inner pmap that differs along the outer axis, though no operand does.
// error: pmap has mapped output \(axis_name=.?'rows.?'\) but out_axes is None: result 0 differs between instances; give it an axis, or reduce it first with psum, pmean or another collective
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto, auto u) {
  return plx::pmap<"columns">([](auto v) {
#ifdef PARALLAX_EXPECT_ERROR
    return v + plx::axis_index<"rows">();
#else
    return v + plx::psum<"rows">(v);
#endif
  })(u);
};

int main() {
  plx::array<int, 1> x, u;
  plx::pmap<"rows">(f, plx::in_axes<0, plx::none>, plx::out_axes<plx::none>)(x, u);
}

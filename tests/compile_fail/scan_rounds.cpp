// A scan of nothing, whose number of rounds is not said.
// error: scan: nothing says how often to go round; give arrays to go over, or length<n>
// line: plx::jit\(\[\]\(auto x\) \{ return plx::scan\(halve, x, plx::none\)
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto halve = [](auto x, auto) { return std::pair{x * 0.5f, plx::none}; };

int main() {
  plx::array<float, plx::extents<4, 3>> a;
#ifdef PARALLAX_EXPECT_ERROR
  plx::jit([](auto x) { return plx::scan(halve, x, plx::none).first; })(a);
#else
  plx::jit([](auto x) { return plx::scan(halve, x, plx::none, plx::length<3>).first; })(a);
#endif
}

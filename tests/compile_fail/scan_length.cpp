// A negative number of rounds.
// error: scan: -2 in \(-2\) is not an extent; give extents from 0 on
// line: plx::jit\(\[\]\(auto x\) \{ return plx::scan\(halve, x, plx::none, plx::length<-2>\)
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto halve = [](auto x, auto) { return std::pair{x * 0.5f, plx::none}; };

int main() {
  plx::array<float, plx::extents<4, 3>> a;
#ifdef PARALLAX_EXPECT_ERROR
  plx::jit([](auto x) { return plx::scan(halve, x, plx::none, plx::length<-2>).first; })(a);
#else
  plx::jit([](auto x) { return plx::scan(halve, x, plx::none, plx::length<2>).first; })(a);
#endif
}

// A round that takes no slice.
// error: scan: the function takes 1 argument, but was called with 2
// line: plx::jit\(\[\]\(auto x\) \{ return plx::scan\(halve, plx::sum\(x\), x\)
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto halve = [](auto x) { return std::pair{x * 0.5f, plx::none}; };
constexpr auto halve_and_drop = [](auto x, auto) { return halve(x); };

int main() {
  plx::array<float, plx::extents<4, 3>> a;
#ifdef PARALLAX_EXPECT_ERROR
  plx::jit([](auto x) { return plx::scan(halve, plx::sum(x), x).first; })(a);
#else
  plx::jit([](auto x) { return plx::scan(halve_and_drop, plx::sum(x), x).first; })(a);
#endif
}

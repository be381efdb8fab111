// A gradient through a loop whose bound is data.
// error: grad: while_loop has no reverse mode, nor has fori_loop with a bound that is data, since nothing says how many rounds to keep; use fori_loop or scan with a number of rounds that is known, such as plx::count\(n\), or forward mode
// line: plx::jit\(plx::grad\(total\)\)\(a, 3\)
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto twice = [](auto, auto x) { return x + x; };
constexpr auto total = [](auto x, auto n) { return plx::sum(plx::fori_loop(0, n, twice, x)); };

int main() {
  plx::array<float, plx::extents<3>> a;
#ifdef PARALLAX_EXPECT_ERROR
  plx::jit(plx::grad(total))(a, 3);
#else
  plx::jit(plx::grad(total))(a, plx::count(3));
#endif
}

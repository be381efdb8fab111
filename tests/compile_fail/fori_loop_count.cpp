// A loop whose count is computed by the program itself.
// error: fori_loop: the bound int32\[\] is known while the program runs only; use while_loop, or give the count as an argument: plx::count\(n\)
// line: plx::jit\(doubled\)\(a, n\)
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto twice = [](auto, auto x) { return x + x; };
constexpr auto doubled = [](auto x, auto count) { return plx::fori_loop(0, count, twice, x); };

int main() {
  plx::array<float, plx::extents<3>> a;
#ifdef PARALLAX_EXPECT_ERROR
  const int n = 3;
#else
  const auto n = plx::count(3);
#endif
  plx::jit(doubled)(a, n);
}

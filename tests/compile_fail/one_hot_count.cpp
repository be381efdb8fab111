// one_hot of a count that the program itself computes.
// error: one_hot: the number of classes int32\[\] is known while the program runs only; give it as a number, or as an argument: plx::count\(n\)
// line: plx::jit\(chosen\)\(a, places, 3\)
#include <parallax/parallax.hpp>

namespace plx = parallax;

#ifdef PARALLAX_EXPECT_ERROR
constexpr auto chosen = []([[maybe_unused]] auto x, [[maybe_unused]] auto i, auto n) { return plx::one_hot(i, n); };
#else
constexpr auto chosen = []([[maybe_unused]] auto x, [[maybe_unused]] auto i, auto) { return plx::one_hot(i, 3); };
#endif

int main() {
  plx::array<float, plx::extents<5>> a;
  plx::array<int, plx::extents<5>> places;
  plx::jit(chosen)(a, places, 3);
}

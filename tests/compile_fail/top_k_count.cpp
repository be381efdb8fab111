// top_k of a count that the program itself computes.
// error: top_k: the number k int32\[\] is known while the program runs only; give it as a number
// line: plx::jit\(chosen\)\(a, places, 3\)
#include <parallax/parallax.hpp>

namespace plx = parallax;

#ifdef PARALLAX_EXPECT_ERROR
constexpr auto chosen = []([[maybe_unused]] auto x, [[maybe_unused]] auto i, auto n) { return plx::top_k(x, n).first; };
#else
constexpr auto chosen = []([[maybe_unused]] auto x, [[maybe_unused]] auto i, auto) { return plx::top_k(x, 3).first; };
#endif

int main() {
  plx::array<float, plx::extents<5>> a;
  plx::array<int, plx::extents<5>> places;
  plx::jit(chosen)(a, places, 3);
}

// A scan whose length is computed by the program itself.
// error: scan: the length int32\[\] is known while the program runs only; use while_loop, or give the count as an argument: plx::count\(n\)
// line: plx::jit\(powers\)\(a, n\)
#include <parallax/parallax.hpp>

#include <utility>

namespace plx = parallax;

constexpr auto twice = [](auto x, auto) { return std::pair{x + x, x}; };
constexpr auto powers = [](auto x, auto count) { return plx::scan(twice, x, plx::none, count); };

int main() {
  plx::array<float, plx::extents<3>> a;
#ifdef PARALLAX_EXPECT_ERROR
  const int n = 3;
#else
  const auto n = plx::count(3);
#endif
  plx::jit(powers)(a, n);
}

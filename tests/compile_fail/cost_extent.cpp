// The cost of a program whose extents the call decides.
// error: parallax: cost: an extent is not static: give each extent of shaped<...> as a number
// line: constexpr auto cost = plx::cost\(total, plx::shaped<float, wrong>\)
#include <parallax/parallax.hpp>

namespace plx = parallax;

#ifdef PARALLAX_EXPECT_ERROR
inline constexpr auto wrong = plx::dyn;
#else
inline constexpr auto wrong = 10;
#endif

constexpr auto total = [](auto x) { return plx::sum(x); };

int main() {
  constexpr auto cost = plx::cost(total, plx::shaped<float, wrong>);
  return static_cast<int>(cost.flops - cost.flops);
}

// A Jacobian of results that are integers.
// error: jacfwd requires real-valued results \(float32 or float64\), but the function returns int32\[3\]; convert it with astype<float>, or leave it out
// line: plx::jacfwd\(order\)\(a\)
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto order = [](auto x) { return plx::argsort(x); };
constexpr auto sorted = [](auto x) { return plx::sort(x); };

int main() {
  plx::array<float, plx::extents<3>> a;
#ifdef PARALLAX_EXPECT_ERROR
  plx::jacfwd(order)(a);
#else
  plx::jacfwd(sorted)(a);
#endif
}

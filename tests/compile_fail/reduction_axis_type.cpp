// An axis that the array does not have, as a type.
// error: sum: axis 2 is out of bounds for array of dimension 2; give an axis from -2 to 1
// line: return plx::sum\(x, plx::axis<2>\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x) {
#ifdef PARALLAX_EXPECT_ERROR
  return plx::sum(x, plx::axis<2>);
#else
  return plx::sum(x, plx::axis<1>);
#endif
};

int main() {
  plx::array<float, 2> a;
  plx::jit(f)(a);
}

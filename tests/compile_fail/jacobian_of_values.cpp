// A Jacobian asked for at once, without the function between.
// error: jacfwd, jacrev and hessian return a function: call it with the arguments, plx::jacfwd\(f\)\(x\)
// line: plx::hessian\(total, a\)
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto total = [](auto x) { return plx::sum(x * x * x); };

int main() {
  plx::array<float, plx::extents<3>> a;
#ifdef PARALLAX_EXPECT_ERROR
  plx::hessian(total, a);
#else
  plx::hessian(total)(a);
#endif
}

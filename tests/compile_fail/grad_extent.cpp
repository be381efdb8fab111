// A derivative by an extent.
// error: grad requires real-valued inputs \(float32 or float64\), but argument 1 is an extent; leave it out of argnums
// line: plx::jit\(plx::grad\(power, plx::argnums<1>\)\)\(a, n\)
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto power = [](auto x, auto n) {
  return plx::fori_loop(0, n, [&](auto, auto v) { return v * x; }, plx::ones_like(x));
};

int main() {
  plx::array<float, 0> a(2.0f);
  const auto n = plx::count(3);
#ifdef PARALLAX_EXPECT_ERROR
  plx::jit(plx::grad(power, plx::argnums<1>))(a, n);
#else
  plx::jit(plx::grad(power, plx::argnums<0>))(a, n);
#endif
}

// A program with a gradient, for a sanitizer that must not keep it from being evaluated while compiling.
#include <parallax/parallax.hpp>

namespace plx = parallax;

float slope(const plx::array<float, 1>& x) {
  constexpr auto f = [](auto y) { return plx::sum(plx::tanh(y) * y) + plx::max(y); };
  return plx::grad(f)(x).values()[0];
}

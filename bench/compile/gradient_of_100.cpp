// The gradient of 100 operations that are woven into each other.
#include <parallax/parallax.hpp>

namespace plx = parallax;

using row = plx::array<float, 1>;

constexpr auto woven = [](auto a, auto b) {
  for (int i = 0; i < 25; ++i) {
    a = a + b;
    b = b * a;
    a = plx::tanh(a);
    b = b - a;
  }
  return plx::sum(a * b);
};

auto slopes(const row& x, const row& y) { return plx::jit(plx::grad(woven, plx::argnums<0, 1>))(x, y); }

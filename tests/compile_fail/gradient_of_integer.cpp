// A derivative with respect to integers.
// error: grad requires real-valued inputs \(float32 or float64\), but argument 1 has type int32\[4\]; convert it with astype<float>, or leave it out of argnums
// line: auto g = plx::grad\(loss, plx::argnums<1>\)\(x, labels\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto loss = [](auto x, auto labels) { return plx::sum(x * labels); };

int main() {
  plx::array<float, plx::extents<4>> x;
  plx::array<int, plx::extents<4>> labels;
#ifdef PARALLAX_EXPECT_ERROR
  auto g = plx::grad(loss, plx::argnums<1>)(x, labels);
#else
  auto g = plx::grad(loss, plx::argnums<0>)(x, labels);
#endif
}

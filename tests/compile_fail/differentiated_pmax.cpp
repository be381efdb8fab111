// An operation without a derivative.
// error: Differentiation rule for .*pmax.* not implemented, applied here to float32\[4\]; put its operand into stop_gradient, or use another operation
// line: auto g = plx::grad\(f\)\(x\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x) {
#ifdef PARALLAX_EXPECT_ERROR
  return plx::sum(plx::pmax<"i">(x));
#else
  return plx::sum(plx::psum<"i">(x));
#endif
};
constexpr auto gradient = [](auto x) {
  auto g = plx::grad(f)(x);
  return g;
};

int main() {
  plx::array<float, plx::extents<2, 4>> x;
  plx::pmap<"i">(gradient)(x);
}

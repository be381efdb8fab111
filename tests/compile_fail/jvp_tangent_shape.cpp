// A tangent of another shape than its argument.
// error: jvp: argument 0 is float32\[3\], but its tangent is float32\[1,3\]; give one of the same type and shape
// line: plx::jit\(along\)\(a, b\)
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto cubes = [](auto x) { return x * x * x; };
constexpr auto along = [](auto x, auto v) { return plx::jvp(cubes, std::tuple{x}, std::tuple{v}); };

int main() {
  plx::array<float, plx::extents<3>> a;
#ifdef PARALLAX_EXPECT_ERROR
  plx::array<float, plx::extents<1, 3>> b;
#else
  plx::array<float, plx::extents<3>> b;
#endif
  plx::jit(along)(a, b);
}

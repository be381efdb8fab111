// A matrix that makes vectors of another length.
// error: custom_linear_solve: shapes float32\[4\] and float32\[3\] do not agree: 4 is not 3; let it return a vector of the system
// line: plx::jit\(solved\)\(b\)
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto multiply = [](auto x) {
#ifdef PARALLAX_EXPECT_ERROR
  return plx::slice_in_dim(x, 0, 3);
#else
  return 2.0f * x;
#endif
};
constexpr auto solved = [](auto b) { return plx::cg(multiply, b); };

int main() {
  plx::array<float, plx::extents<4>> b;
  plx::jit(solved)(b);
}

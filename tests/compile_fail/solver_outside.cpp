// A solver of arrays, which only traced functions may call.
// error: parallax: custom_linear_solve: call it inside a traced function, such as one that jit is given
// line: plx::cg\(twice, b\)
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto twice = [](auto x) { return 2.0f * x; };
constexpr auto solved = [](auto b) { return plx::cg(twice, b); };

int main() {
  plx::array<float, plx::extents<4>> b;
#ifdef PARALLAX_EXPECT_ERROR
  plx::cg(twice, b);
#else
  plx::jit(solved)(b);
#endif
}

// A linear function that is called with the point too.
// error: parallax: custom_root: tangent_solve\(g, y\) calls g with something else than a tree like y; let it call g\(z\)
// line: return plx::custom_root\(f, x, solve, \[\]\(auto g, auto y\) { return y / g\(y, y\); }\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto solve = [](auto, auto first) { return first; };
constexpr auto root_of = [](auto a, auto x) {
  auto f = [a](auto y) { return y * y - a; };
#ifdef PARALLAX_EXPECT_ERROR
  return plx::custom_root(f, x, solve, [](auto g, auto y) { return y / g(y, y); });
#else
  return plx::custom_root(f, x, solve, [](auto g, auto y) { return y / g(1.0f + 0.0f * y); });
#endif
};

int main() {
  plx::array<float, plx::extents<3>> a;
  plx::jit(root_of)(a, a);
}

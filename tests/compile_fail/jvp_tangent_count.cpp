// Fewer tangents than arguments.
// error: parallax: jvp: give a tangent for each argument, a tree like it, or none
// line: plx::jvp\(products, std::tuple\{a, a\}, std::tuple\{a\}\)
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto products = [](auto x, auto y) { return x * y; };

int main() {
  plx::array<float, plx::extents<3>> a;
#ifdef PARALLAX_EXPECT_ERROR
  plx::jvp(products, std::tuple{a, a}, std::tuple{a});
#else
  plx::jvp(products, std::tuple{a, a}, std::tuple{a, plx::none});
#endif
}

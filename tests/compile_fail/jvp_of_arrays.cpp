// Arguments and tangents as in Python without its commas.
// error: parallax: jvp: arguments and tangents are each given as a tuple, but one of them is not; call plx::jvp\(f, std::tuple{x}, std::tuple{v}\)
// line: plx::jvp\(square, a, a\)
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto square = [](auto x) { return x * x; };

int main() {
  plx::array<float, plx::extents<3>> a;
#ifdef PARALLAX_EXPECT_ERROR
  plx::jvp(square, a, a);
#else
  plx::jvp(square, std::tuple{a}, std::tuple{a});
#endif
}

// A tangent of an integer.
// error: jvp: argument 1 is int32\[\], which has no tangent; give none for it
// line: plx::jvp\(powers, std::tuple\{a, n\}, std::tuple\{a, n\}\)
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto powers = [](auto x, auto n) { return plx::pow(x, plx::astype<float>(n)); };

int main() {
  plx::array<float, plx::extents<3>> a;
  plx::array<std::int32_t, 0> n(2);
#ifdef PARALLAX_EXPECT_ERROR
  plx::jvp(powers, std::tuple{a, n}, std::tuple{a, n});
#else
  plx::jvp(powers, std::tuple{a, n}, std::tuple{a, plx::none});
#endif
}

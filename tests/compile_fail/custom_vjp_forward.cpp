// Forward mode of a function whose way back alone is its user's.
// error: jvp: a function with custom_vjp has no forward mode; give it custom_jvp, or take grad or vjp of it
// line: plx::jvp\(doubled, std::tuple\{a\}, std::tuple\{a\}\)
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto doubled =
    plx::custom_vjp([](auto x) { return 2.0f * x; }, [](auto x) { return std::pair{2.0f * x, std::tuple{}}; },
                    [](auto, auto g) { return std::tuple{2.0f * g}; });

int main() {
  plx::array<float, plx::extents<3>> a;
#ifdef PARALLAX_EXPECT_ERROR
  plx::jvp(doubled, std::tuple{a}, std::tuple{a});
#else
  plx::vjp(doubled, a).second(a);
#endif
}

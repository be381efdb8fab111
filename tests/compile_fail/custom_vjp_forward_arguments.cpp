// A rule for the way forward that takes another argument.
// error: custom_vjp: the forward rule takes 2 arguments, but is given 1; let it take what the function takes
// line: plx::vjp\(by_rule, a\)
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto doubled = [](auto x) { return 2.0f * x; };
#ifdef PARALLAX_EXPECT_ERROR
constexpr auto by_rule = plx::custom_vjp(
    doubled, [](auto x, auto y) { return std::pair{2.0f * x, y}; }, [](auto, auto g) { return std::tuple{2.0f * g}; });
#else
constexpr auto by_rule = plx::custom_vjp(
    doubled, [](auto x) { return std::pair{2.0f * x, std::tuple{}}; },
    [](auto, auto g) { return std::tuple{2.0f * g}; });
#endif

int main() {
  plx::array<float, plx::extents<3>> a;
  plx::vjp(by_rule, a);
}

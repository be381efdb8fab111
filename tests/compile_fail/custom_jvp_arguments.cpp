// A rule that takes arguments and tangents one after another, as none does.
// error: custom_jvp: the rule takes 1 argument, but is given 2; let it take the tuple of arguments, and that of their tangents
// line: plx::vjp\(by_rule, a\)
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto doubled = [](auto x) { return 2.0f * x; };
#ifdef PARALLAX_EXPECT_ERROR
constexpr auto by_rule = plx::custom_jvp(doubled, [](auto at) { return std::pair{at, at}; });
#else
constexpr auto by_rule = plx::custom_jvp(
    doubled, [](auto at, auto along) { return std::pair{2.0f * std::get<0>(at), 2.0f * std::get<0>(along)}; });
#endif

int main() {
  plx::array<float, plx::extents<3>> a;
  plx::vjp(by_rule, a);
}

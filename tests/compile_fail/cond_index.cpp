// A branch that a floating number is to choose.
// error: switch_: what chooses a branch is float32\[\]; give one boolean number or one integer
// line: plx::jit\(\[\]\(auto x\) \{ return plx::switch_\(plx::sum\(x\), std::tuple\{same, twice\}, x\); \}\)\(a\)
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto same = [](auto x) { return x; };
constexpr auto twice = [](auto x) { return x * 2.0f; };

int main() {
  plx::array<float, plx::extents<3>> a;
#ifdef PARALLAX_EXPECT_ERROR
  plx::jit([](auto x) { return plx::switch_(plx::sum(x), std::tuple{same, twice}, x); })(a);
#else
  plx::jit([](auto x) { return plx::switch_(plx::astype<int>(plx::sum(x)), std::tuple{same, twice}, x); })(a);
#endif
}

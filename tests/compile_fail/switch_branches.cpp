// Branches that return different element types.
// error: switch_: result 0 is float32\[3\] of branch 0, and int32\[3\] of branch 1; let branches return values of the same types and shapes
// line: plx::jit\(\[\]\(auto x\) \{ return plx::switch_\(1, std::tuple\{same, whole\}, x\); \}\)\(a\)
#include <parallax/parallax.hpp>

#include <tuple>
#include <utility>

namespace plx = parallax;

constexpr auto same = [](auto x) { return x; };
constexpr auto twice = [](auto x) { return std::pair{x, x}; };
constexpr auto whole = [](auto x) { return plx::astype<int>(x); };

int main() {
  plx::array<float, plx::extents<3>> a;
#ifdef PARALLAX_EXPECT_ERROR
  plx::jit([](auto x) { return plx::switch_(1, std::tuple{same, whole}, x); })(a);
#else
  plx::jit([](auto x) { return plx::switch_(1, std::tuple{same, same}, x); })(a);
  plx::jit(twice)(a);
  plx::jit(whole)(a);
#endif
}

// Branches that return different trees.
// error: cond: on_true returns another tree than on_false; let all branches return the same one
// line: plx::jit\(\[\]\(auto x\) \{ return plx::cond\(true, twice, same, x\); \}\)\(a\)
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
  plx::jit([](auto x) { return plx::cond(true, twice, same, x); })(a);
#else
  plx::jit([](auto x) { return plx::cond(true, same, same, x); })(a);
  plx::jit(twice)(a);
  plx::jit(whole)(a);
#endif
}

// A carry whose shape a round changes.
// error: fori_loop: carry 0 begins as float32\[3\], and the function returns float32\[\] for it; let both be of one type and shape
// line: plx::jit\(\[\]\(auto x\) \{ return plx::fori_loop\(0, 4, total, x\); \}\)\(a\)
#include <parallax/parallax.hpp>

#include <utility>

namespace plx = parallax;

constexpr auto small = [](auto x) { return plx::sum(x) < 9.0f; };
constexpr auto whole = [](auto x) { return plx::astype<int>(x + 1.0f); };
constexpr auto more = [](auto x) { return x + 1.0f; };
constexpr auto total = [](auto, auto x) { return plx::sum(x); };
constexpr auto further = [](auto, auto x) { return x * 2.0f; };

int main() {
  plx::array<float, plx::extents<3>> a;
#ifdef PARALLAX_EXPECT_ERROR
  plx::jit([](auto x) { return plx::fori_loop(0, 4, total, x); })(a);
#else
  plx::jit([](auto x) { return plx::fori_loop(0, 4, further, x); })(a);
#endif
}

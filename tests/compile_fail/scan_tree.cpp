// A round that returns another tree than its carry.
// error: scan: the function returns another tree than the carry that it is given; let it return the same tree
// line: plx::jit\(\[\]\(auto x\) \{ return plx::scan\(wrong, plx::sum\(x\), x\)
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto wrong = [](auto sum, auto x) { return std::pair{std::pair{sum, plx::sum(x)}, plx::none}; };
constexpr auto right = [](auto sum, auto x) { return std::pair{sum + plx::sum(x), plx::none}; };

int main() {
  plx::array<float, plx::extents<4, 3>> a;
#ifdef PARALLAX_EXPECT_ERROR
  plx::jit([](auto x) { return plx::scan(wrong, plx::sum(x), x); })(a);
#else
  plx::jit([](auto x) { return plx::scan(right, plx::sum(x), x); })(a);
#endif
}

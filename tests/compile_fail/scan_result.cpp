// A round that returns a carry alone.
// error: scan: the function returns no pair; return std::pair\{carry, output\}, where output is what is stacked, or plx::none
// line: plx::jit\(\[\]\(auto x\) \{ return plx::scan\(\[\]\(auto sum, auto row\) \{ return sum \+ plx::sum\(row\); \}, 0.0f, x\)
#include <parallax/parallax.hpp>

namespace plx = parallax;

int main() {
  plx::array<float, plx::extents<4, 3>> a;
#ifdef PARALLAX_EXPECT_ERROR
  plx::jit([](auto x) { return plx::scan([](auto sum, auto row) { return sum + plx::sum(row); }, 0.0f, x); })(a);
#else
  plx::jit([](auto x) {
    return plx::scan([](auto sum, auto row) { return std::pair{sum + plx::sum(row), plx::none}; }, 0.0f, x).first;
  })(a);
#endif
}

// A double beside whole numbers, which makes float64 of a float32 carry.
// error: scan: carry 0 begins as float32\[\], and the function returns float64\[\] for it; let both be of one type and shape \(a double beside whole numbers makes float64: write 0.5f, not 0.5\)
// line: plx::jit\(\[\]\(auto x\) \{ return plx::scan\(doubles, plx::sum\(x\), plx::arange\(4\)\)
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto doubles = [](auto sum, auto i) { return std::pair{sum + 0.5 * i, plx::none}; };
constexpr auto floats = [](auto sum, auto i) { return std::pair{sum + 0.5f * i, plx::none}; };

int main() {
  plx::array<float, plx::extents<4>> a;
#ifdef PARALLAX_EXPECT_ERROR
  plx::jit([](auto x) { return plx::scan(doubles, plx::sum(x), plx::arange(4)); })(a);
#else
  plx::jit([](auto x) { return plx::scan(floats, plx::sum(x), plx::arange(4)); })(a);
#endif
}

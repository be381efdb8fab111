// A carry whose type a round changes.
// error: scan: carry 0 begins as float32\[\], and the function returns int32\[\] for it; let both be of one type and shape
// line: plx::jit\(\[\]\(auto x\) \{ return plx::scan\(whole, plx::sum\(x\), x\)
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto whole = [](auto sum, auto x) { return std::pair{plx::astype<int>(sum + x), plx::none}; };
constexpr auto right = [](auto sum, auto x) { return std::pair{sum + x, plx::none}; };

int main() {
  plx::array<float, plx::extents<4>> a;
#ifdef PARALLAX_EXPECT_ERROR
  plx::jit([](auto x) { return plx::scan(whole, plx::sum(x), x); })(a);
#else
  plx::jit([](auto x) { return plx::scan(right, plx::sum(x), x); })(a);
#endif
}

// A carry whose shape a round changes.
// error: scan: carry 0 begins as float32\[3\], and the function returns float32\[\] for it; let both be of one type and shape
// line: return plx::scan\(\[\]\(auto sum, auto x\) \{ return std::pair\{plx::sum\(x\), sum\}; \}, zeros, rows\)
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto wrong = [](auto rows) {
  auto zeros = plx::zeros_like(plx::sum(rows, 0));
  return plx::scan([](auto sum, auto x) { return std::pair{plx::sum(x), sum}; }, zeros, rows);
};
constexpr auto right = [](auto rows) {
  auto zeros = plx::zeros_like(plx::sum(rows, 0));
  return plx::scan([](auto sum, auto x) { return std::pair{sum + x, sum}; }, zeros, rows);
};

int main() {
  plx::array<float, plx::extents<4, 3>> a;
#ifdef PARALLAX_EXPECT_ERROR
  plx::jit(wrong)(a);
#else
  plx::jit(right)(a);
#endif
}

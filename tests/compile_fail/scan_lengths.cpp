// Stacked arrays of different lengths.
// error: scan: shapes float32\[4,3\] and float32\[3,4\] do not agree: 4 is not 3; give arrays of one length along axis 0
// line: plx::jit\(\[\]\(auto x\) \{ return plx::scan\(add, 0.0f, std::tuple\{x, plx::transpose\(x\)\}\)
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto add = [](auto sum, auto rows) {
  auto [left, right] = rows;
  return std::pair{sum + plx::sum(left) + plx::sum(right), plx::none};
};

int main() {
  plx::array<float, plx::extents<4, 3>> a;
#ifdef PARALLAX_EXPECT_ERROR
  plx::jit([](auto x) { return plx::scan(add, 0.0f, std::tuple{x, plx::transpose(x)}).first; })(a);
#else
  plx::jit([](auto x) { return plx::scan(add, 0.0f, std::tuple{x, x}).first; })(a);
#endif
}

// An extent that a loop is to carry.
// error: scan: a carry holds what is no array, such as an extent or a function; let the function close over it
// line: plx::jit\(\[\]\(auto x, auto n\) \{ return plx::scan\(keep, std::pair\{x, n\}, plx::none, n\).first.first; \}\)\(a, n\)
#include <parallax/parallax.hpp>

#include <utility>

namespace plx = parallax;

constexpr auto keep = [](auto carry, auto) { return std::pair{carry, plx::none}; };

int main() {
  plx::array<float, plx::extents<3>> a;
  const auto n = plx::count(3);
#ifdef PARALLAX_EXPECT_ERROR
  plx::jit([](auto x, auto n) { return plx::scan(keep, std::pair{x, n}, plx::none, n).first.first; })(a, n);
#else
  plx::jit([](auto x, auto n) { return plx::scan(keep, std::pair{x, x}, plx::none, n).first.first; })(a, n);
#endif
}

// pmaps in one loop that name different devices: the loop runs on those of both.
// error: pmap: pmaps inside one loop name different devices; give them the same ones
// line: plx::jit\(rounds\)\(a\)
#include <parallax/parallax.hpp>

namespace plx = parallax;

template <auto... Numbers> constexpr auto twice = plx::pmap([](auto x) { return x * 2.0f; }, plx::devices<Numbers...>);
constexpr auto rounds = [](auto x) {
  return plx::fori_loop(0, 3, [](auto, auto v) { return twice<0, 1>(twice<2, 3>(v)); }, x);
};
constexpr auto alike = [](auto x) {
  return plx::fori_loop(0, 3, [](auto, auto v) { return twice<2, 3>(twice<2, 3>(v)); }, x);
};

int main() {
  plx::array<float, plx::extents<2, 3>> a;
#ifdef PARALLAX_EXPECT_ERROR
  plx::jit(rounds)(a);
#else
  plx::jit(alike)(a);
#endif
}

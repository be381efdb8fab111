// A pmap in each round of a loop that no device runs.
// error: pmap: inside a loop that is outside of any pmap; put the loop into the function that is mapped
// line: plx::jit\(rounds\)\(a\)
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto twice = plx::pmap([](auto x) { return x * 2.0f; });
constexpr auto rounds = [](auto x) {
  return plx::scan([](auto v, auto) { return std::pair{twice(v), plx::none}; }, x, plx::none, plx::length<3>).first;
};
constexpr auto instance = [](auto x) {
  return plx::scan([](auto v, auto) { return std::pair{v * 2.0f, plx::none}; }, x, plx::none, plx::length<3>).first;
};

int main() {
  plx::array<float, plx::extents<4, 3>> a;
#ifdef PARALLAX_EXPECT_ERROR
  plx::jit(rounds)(a);
#else
  plx::pmap(instance)(a);
#endif
}

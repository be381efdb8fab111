// A round that returns another tree than its carry.
// error: while_loop: the function returns another tree than the carry that it is given; let it return the same tree
// line: plx::jit\(\[\]\(auto x\) \{ return plx::while_loop\(small, pair, x\); \}\)\(a\)
#include <parallax/parallax.hpp>

#include <utility>

namespace plx = parallax;

constexpr auto small = [](auto x) { return x < 9.0f; };
constexpr auto pair = [](auto x) { return std::pair{x, x}; };
constexpr auto more = [](auto x) { return x + 1.0f; };

int main() {
  plx::array<float, plx::extents<>> a;
#ifdef PARALLAX_EXPECT_ERROR
  plx::jit([](auto x) { return plx::while_loop(small, pair, x); })(a);
#else
  plx::jit([](auto x) { return plx::while_loop(small, more, x); })(a);
  plx::jit(pair)(a);
#endif
}

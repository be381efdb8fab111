// A loop whose bound is data of a type that the rounds' numbers lack.
// error: fori_loop: the bound int64\[\] is not one int32 number; fori_loop<std::int64_t> has numbers of 64 bits
// line: plx::jit\(doubled<std::int32_t>\)\(a, n\)
#include <parallax/parallax.hpp>

#include <cstdint>

namespace plx = parallax;

constexpr auto twice = [](auto, auto x) { return x + x; };
template <class Number>
constexpr auto doubled = [](auto x, auto count) { return plx::fori_loop<Number>(0, count, twice, x); };

int main() {
  plx::array<float, plx::extents<3>> a;
  plx::array<std::int64_t, 0> n{3};
#ifdef PARALLAX_EXPECT_ERROR
  plx::jit(doubled<std::int32_t>)(a, n);
#else
  plx::jit(doubled<std::int64_t>)(a, n);
#endif
}

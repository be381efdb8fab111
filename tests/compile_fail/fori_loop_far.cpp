// Bounds that the numbers of rounds lack, of 64 bits.
// error: fori_loop: the bound 2147483650 is no int32 number; fori_loop<std::int64_t> has numbers of 64 bits
// line: plx::jit\(sums<std::int32_t>\)\(a\)
#include <parallax/parallax.hpp>

#include <cstdint>

namespace plx = parallax;

template <class Number>
constexpr auto sums = [](auto x) {
  const std::int64_t far = std::int64_t{1} << 31;
  return plx::fori_loop<Number>(far - 1, far + 2, [](auto i, auto c) { return c + plx::astype<double>(i); }, x);
};

int main() {
  plx::array<double, 0> a{0};
#ifdef PARALLAX_EXPECT_ERROR
  plx::jit(sums<std::int32_t>)(a);
#else
  plx::jit(sums<std::int64_t>)(a);
#endif
}

// A power written as in mathematics.
// error: xor: bitwise operations take integers or truth values, not float32; convert first, or use bitcast; for powers there are plx::pow and plx::square
// line: return x \^ 2;
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x) {
#ifdef PARALLAX_EXPECT_ERROR
  return x ^ 2;
#else
  return plx::pow(x, 2);
#endif
};

int main() {
  plx::array<float, 2> a;
  plx::jit(f)(a);
}

// A type that an operation does not take.
// error: and: bitwise operations take integers or truth values, not float32
// line: return x & x;
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x) {
#ifdef PARALLAX_EXPECT_ERROR
  return x & x;
#else
  return (x > 0) & (x > 0);
#endif
};

int main() {
  plx::array<float, plx::extents<3, 4>> a;
  plx::jit(f)(a);
}

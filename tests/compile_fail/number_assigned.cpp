// A variable of a traced array that is to become a number.
// error: a variable that names a traced array can name other traced arrays only: for one of numbers write plx::full_like\(x, 1\); x with elements changed is x\.at\(i\)\.set\(y\)
// line: x = 1\.f;
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x) {
#ifdef PARALLAX_EXPECT_ERROR
  x = 1.f;
  return x;
#else
  x = plx::full_like(x, 1.f);
  return x;
#endif
};

int main() {
  plx::array<float, 2> a;
  plx::jit(f)(a);
}

// A rank that an operation does not take.
// error: matmul: shapes float32\[\] and float32\[3,4\] do not agree: scalars are not allowed; use \*
// line: return plx::matmul\(plx::sum\(x\), x\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x) {
#ifdef PARALLAX_EXPECT_ERROR
  return plx::matmul(plx::sum(x), x);
#else
  return plx::sum(x) * x;
#endif
};

int main() {
  plx::array<float, plx::extents<3, 4>> a;
  plx::jit(f)(a);
}

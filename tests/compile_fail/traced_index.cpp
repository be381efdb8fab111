// An index that is traced.
// error: a traced array has no operator\[\], and an index must be known while compiling: for one that is traced, sum over plx::where\(plx::arange\(n\) == i, x, 0\)
// line: return x\[y\];
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x, auto y) {
#ifdef PARALLAX_EXPECT_ERROR
  return x[y];
#else
  return plx::index_in_dim(x, 0) + y;
#endif
};

int main() {
  plx::array<float, 2> a;
  plx::array<int, 0> b;
  plx::jit(f)(a, b);
}

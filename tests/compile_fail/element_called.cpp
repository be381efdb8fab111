// An element read as arrays outside are.
// error: a traced array has no elements to read while compiling: take parts of it with plx::index_in_dim\(x, 0\) or plx::slice_in_dim
// line: return x\(0, 0\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x) {
#ifdef PARALLAX_EXPECT_ERROR
  return x(0, 0);
#else
  return plx::index_in_dim(plx::index_in_dim(x, 0), 0);
#endif
};

int main() {
  plx::array<float, 2> a;
  plx::jit(f)(a);
}

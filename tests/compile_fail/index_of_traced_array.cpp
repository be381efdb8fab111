// Indexing by brackets.
// error: a traced array has no operator\[\]: take one index of an axis with plx::index_in_dim, several with plx::slice_in_dim or plx::slice
// line: return x\[0\];
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x) {
#ifdef PARALLAX_EXPECT_ERROR
  return x[0];
#else
  return plx::index_in_dim(x, 0);
#endif
};

int main() {
  plx::array<float, 1> a;
  plx::jit(f)(a);
}

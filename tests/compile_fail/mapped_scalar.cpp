// A number along which nothing can be mapped.
// error: vmap was requested to map its argument along axis 0, which implies that its rank should be at least 1, but is only 0 \(its shape is float32\[\]\)
// line: auto y = plx::vmap\(f\)\(a\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x) { return x; };

int main() {
  plx::array<float, 0> a;
#ifdef PARALLAX_EXPECT_ERROR
  auto y = plx::vmap(f)(a);
#else
  auto y = plx::jit(f)(a);
#endif
}

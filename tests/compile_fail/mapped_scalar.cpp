// A number beside a mapped array is mapped too, unless one says otherwise.
// error: pmap was requested to map its argument along axis 0, which implies that its rank should be at least 1, but is only 0 \(its shape is float32\[\]\); choose another axis, or none
// line: auto y = plx::pmap\(f\)\(a, 0\.5f\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x, auto rate) { return x * rate; };

int main() {
  plx::array<float, 1> a;
#ifdef PARALLAX_EXPECT_ERROR
  auto y = plx::pmap(f)(a, 0.5f);
#else
  auto y = plx::pmap(f, plx::in_axes<0, plx::none>)(a, 0.5f);
#endif
}

// A derivative with respect to an argument before the first one.
// error: parallax: grad: argnums names an argument that is not there; count arguments from 0, or from -1 at the end
// line: auto g = plx::grad\(loss, plx::argnums<-2>\)\(x\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto loss = [](auto x) { return plx::sum(x); };

int main() {
  plx::array<float, plx::extents<4>> x;
#ifdef PARALLAX_EXPECT_ERROR
  auto g = plx::grad(loss, plx::argnums<-2>)(x);
#else
  auto g = plx::grad(loss, plx::argnums<-1>)(x);
#endif
}

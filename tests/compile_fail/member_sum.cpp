// A sum as NumPy writes it.
// error: arrays have no member functions for operations: write plx::sum\(x\), plx::transpose\(x\), plx::dot\(x, y\)
// line: return x\.sum\(0\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x) {
#ifdef PARALLAX_EXPECT_ERROR
  return x.sum(0);
#else
  return plx::sum(x, 0);
#endif
};

int main() {
  plx::array<float, 2> a;
  plx::jit(f)(a);
}

// A product as a member.
// error: arrays have no member functions for operations: write plx::sum\(x\), plx::transpose\(x\), plx::dot\(x, y\)
// line: return x\.matmul\(x\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x) {
#ifdef PARALLAX_EXPECT_ERROR
  return x.matmul(x);
#else
  return plx::matmul(x, x);
#endif
};

int main() {
  plx::array<float, 2> a;
  plx::jit(f)(a);
}

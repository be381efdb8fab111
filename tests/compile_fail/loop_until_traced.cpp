// A loop whose end only the values know.
// error: a traced array has no value to branch on: choose between results with plx::where, or plx::maximum and plx::minimum for std::max and std::min; branch with plx::cond, and go round with plx::while_loop
// line: while \(plx::sum\(x\) < 100\) x = x \* 2;
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x) {
#ifdef PARALLAX_EXPECT_ERROR
  while (plx::sum(x) < 100) x = x * 2;
  return x;
#else
  for (int i = 0; i < 3; ++i) x = x * 2;
  return x;
#endif
};

int main() {
  plx::array<float, 2> a;
  plx::jit(f)(a);
}

// A traced array where a number is declared.
// error: a traced array is no number while compiling: call plx::tanh\(x\) and the like instead of functions of std::, keep results in .auto., and convert with plx::astype<float>\(x\)
// line: float total = plx::sum\(x\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x) {
#ifdef PARALLAX_EXPECT_ERROR
  float total = plx::sum(x);
  return x / total;
#else
  auto total = plx::sum(x);
  return x / total;
#endif
};

int main() {
  plx::array<float, 2> a;
  plx::jit(f)(a);
}

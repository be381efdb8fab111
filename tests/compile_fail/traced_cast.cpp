// A traced array cast to a number.
// error: a traced array is no number while compiling: call plx::tanh\(x\) and the like instead of functions of std::, keep results in .auto., and convert with plx::astype<float>\(x\)
// line: return x / static_cast<float>\(plx::sum\(x\)\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x) {
#ifdef PARALLAX_EXPECT_ERROR
  return x / static_cast<float>(plx::sum(x));
#else
  return x / plx::astype<float>(plx::sum(x));
#endif
};

int main() {
  plx::array<float, 2> a;
  plx::jit(f)(a);
}

// A function of numbers.
// error: a traced array is no number while compiling: call plx::tanh\(x\) and the like instead of functions of std::, keep results in .auto., and convert with plx::astype<float>\(x\)
// errors: 3
// line: return std::tanh\(x\);
#include <parallax/parallax.hpp>

#include <cmath>

namespace plx = parallax;

constexpr auto f = [](auto x) {
#ifdef PARALLAX_EXPECT_ERROR
  return std::tanh(x);
#else
  return plx::tanh(x);
#endif
};

int main() {
  plx::array<float, 2> a;
  plx::jit(f)(a);
}

// An array that is no argument of the traced function.
// error: an array has its values at the call only, and cannot be closed over: pass it to the traced function as an argument
// line: return x \* weights;
#include <parallax/parallax.hpp>

namespace plx = parallax;

plx::array<float, 1> weights;

constexpr auto f = [](auto x) {
#ifdef PARALLAX_EXPECT_ERROR
  return x * weights;
#else
  return x * 2;
#endif
};

int main() {
  plx::array<float, 1> a;
  plx::jit(f)(a);
}

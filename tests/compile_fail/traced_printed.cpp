// A traced array that is printed.
// error: a traced array has no value to print while compiling: print the result of the outermost call, or plx::expression\(f, x\) for the program
// line: std::cout << x;
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto f = [](auto x) {
#ifdef PARALLAX_EXPECT_ERROR
  std::cout << x;
  return x;
#else
  return x;
#endif
};

int main() {
  plx::array<float, 2> a;
  plx::jit(f)(a);
}

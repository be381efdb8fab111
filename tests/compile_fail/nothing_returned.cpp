// A function without a result.
// error: traced function: a value of type void is no array: take and return arrays, numbers, and trees of them
// line: auto y = plx::jit\(f\)\(a\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x) {
#ifdef PARALLAX_EXPECT_ERROR
  static_cast<void>(x * x);
#else
  return x * x;
#endif
};

int main() {
  plx::array<float, 1> a;
  auto y = plx::jit(f)(a);
}

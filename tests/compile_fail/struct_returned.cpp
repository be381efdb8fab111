// A struct that is no tree.
// error: traced function: a value of type .*named.* is no array: take and return arrays, numbers, and trees of them
// line: plx::jit\(f\)\(a\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

struct named {
  int value;
};

constexpr auto f = [](auto x) {
#ifdef PARALLAX_EXPECT_ERROR
  return named{1};
#else
  return x;
#endif
};

int main() {
  plx::array<float, 2> a;
  plx::jit(f)(a);
}

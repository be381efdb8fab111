// A result that is no array.
// error: traced function: a value of type const char ?\* is no array: take and return arrays, numbers, and trees of them
// line: auto y = plx::vmap\(hello\)\(a\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto hello = [](auto x) {
#ifdef PARALLAX_EXPECT_ERROR
  return static_cast<void>(x), "hello";
#else
  return x;
#endif
};

int main() {
  plx::array<float, 1> a;
  auto y = plx::vmap(hello)(a);
}

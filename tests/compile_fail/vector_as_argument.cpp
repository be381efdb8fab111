// A vector of the standard library.
// error: an argument is neither an array nor a number nor a tree of them.*copy a std::vector into a plx::array
// line: plx::jit\(f\)\(v\);
#include <parallax/parallax.hpp>

#include <vector>

namespace plx = parallax;

constexpr auto f = [](auto x) { return plx::sum(x); };

int main() {
  std::vector<float> v(3);
#ifdef PARALLAX_EXPECT_ERROR
  plx::jit(f)(v);
#else
  plx::jit(f)(plx::array<float, 1>({3}, v));
#endif
}

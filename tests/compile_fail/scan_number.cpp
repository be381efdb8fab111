// A number in place of what a loop goes over.
// error: scan: a number has no slices; stack what the loop goes over along axis 0
// line: plx::jit\(\[\]\(auto x\) \{ return plx::scan\(add, 0.0f, plx::sum\(x\)\)
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto add = [](auto sum, auto x) { return std::pair{sum + plx::sum(x), plx::none}; };

int main() {
  plx::array<float, plx::extents<4, 3>> a;
#ifdef PARALLAX_EXPECT_ERROR
  plx::jit([](auto x) { return plx::scan(add, 0.0f, plx::sum(x)).first; })(a);
#else
  plx::jit([](auto x) { return plx::scan(add, 0.0f, x).first; })(a);
#endif
}

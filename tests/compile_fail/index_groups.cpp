// Groups of instances that leave one out.
// error: psum: axis_index_groups must cover all indices exactly once, got \(\(0, 1\), \(2\)\) for an axis of size 4; name each index in one group
// line: return plx::psum<.+i.+>\(x, plx::axis_index_groups\{\{0, 1\}, \{2\}\}\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x) {
#ifdef PARALLAX_EXPECT_ERROR
  return plx::psum<"i">(x, plx::axis_index_groups{{0, 1}, {2}});
#else
  return plx::psum<"i">(x, plx::axis_index_groups{{0, 1}, {2, 3}});
#endif
};

int main() {
  plx::array<float, plx::extents<4, 2>> x;
  plx::pmap<"i">(f)(x);
}

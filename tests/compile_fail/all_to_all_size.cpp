// An exchange of an axis that is not as long as there are instances.
// error: all_to_all requires the size of the mapped axis i to equal x.shape\[split_axis\], but they are 2 and 4 respectively; use gather_mode::tiled to divide a longer one
// line: return plx::all_to_all<.+i.+>\(x, 0, 0\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x) {
#ifdef PARALLAX_EXPECT_ERROR
  return plx::all_to_all<"i">(x, 0, 0);
#else
  return plx::all_to_all<"i">(x, 0, 0, plx::gather_mode::tiled);
#endif
};

int main() {
  plx::array<float, plx::extents<2, 4>> x;
  plx::pmap<"i">(f)(x);
}

// A tree of entries that is no prefix of its argument.
// error: pmap in_axes must be a tree prefix of the corresponding value, but got len\(in_axes\)=3, len\(args\)=2; give one entry for all or one for each
// line: auto y = plx::pmap\(f, plx::in_axes<plx::tree<0, plx::none, 0>>\)\(std::pair\{a, a\}\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto p) { return p.first + p.second; };

int main() {
  plx::array<float, 2> a;
#ifdef PARALLAX_EXPECT_ERROR
  auto y = plx::pmap(f, plx::in_axes<plx::tree<0, plx::none, 0>>)(std::pair{a, a});
#else
  auto y = plx::pmap(f, plx::in_axes<plx::tree<0, 0>>)(std::pair{a, a});
#endif
}

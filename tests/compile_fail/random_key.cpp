// A key that is none.
// error: random::uniform: expected a key, uint32\[2\], but got uint32\[3,2\]; make one with random::key, and use vmap for several
// line: auto noise = plx::jit\(draw\)\(keys\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto draw = [](auto key) { return plx::random::uniform<float>(key, {4}); };

int main() {
  plx::array<std::uint32_t, plx::extents<3, 2>> keys;
#ifdef PARALLAX_EXPECT_ERROR
  auto noise = plx::jit(draw)(keys);
#else
  auto noise = plx::vmap(draw)(keys);
#endif
}

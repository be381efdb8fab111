// Several keys where a draw takes one.
// error: philox::normal: expected a key, uint32\[2\], but got uint32\[3,2\]; make one with philox::key, and use vmap
// line: return plx::philox::normal\(keys, \{4\}\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

int main() {
  plx::array<std::uint32_t, plx::extents<3, 2>> keys;
#ifdef PARALLAX_EXPECT_ERROR
  auto draw = [](auto keys) { return plx::philox::normal(keys, {4}); };
#else
  auto draw = plx::vmap([](auto key) { return plx::philox::normal(key, {4}); });
#endif
  plx::jit(draw)(keys);
}

// Results to elements that cannot be written.
// error: parallax: into: results cannot be written to const elements
// line: plx::jit.*into\(y\)
#include <parallax/parallax.hpp>

#include <span>

namespace plx = parallax;

#ifdef PARALLAX_EXPECT_ERROR
using written = const float;
#else
using written = float;
#endif

void call(const plx::array<float, 1>& x, std::span<written> y) {
  plx::jit([](auto a) { return a + a; })(x, plx::into(y));
}

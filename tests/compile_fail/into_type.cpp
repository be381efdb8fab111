// A float32 result to memory of float64.
// error: parallax: the memory that into is given has elements of another type than the result
// line: plx::jit.*into\(y\)
#include <parallax/parallax.hpp>

#include <span>

namespace plx = parallax;

#ifdef PARALLAX_EXPECT_ERROR
using written = double;
#else
using written = float;
#endif

void call(const plx::array<float, 1>& x, std::span<written> y) {
  plx::jit([](auto a) { return a + a; })(x, plx::into(y));
}

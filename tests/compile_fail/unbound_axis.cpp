// A name that no mapping binds: the bound ones are listed.
// error: psum: unbound axis name: row; bound axis names are: rows, cols
// line: return x / plx::psum<.+row.+>\(x\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto normalize = [](auto x) {
#ifdef PARALLAX_EXPECT_ERROR
  return x / plx::psum<"row">(x);
#else
  return x / plx::psum<"rows">(x);
#endif
};

int main() {
  plx::array<float, 2> x;
  plx::pmap<"rows">(plx::pmap<"cols">(normalize))(x);
}

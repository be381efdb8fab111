// An element of a constant behind its end, as the size of something empty less 1 is.
// error: index_in_dim: index 9223372036854775807 is out of bounds for axis 0 of int32\[5\]; give an index from -5 to 4
// line: plx::jit\(last\)\(a\)
#include <parallax/parallax.hpp>

#include <cstddef>

namespace plx = parallax;

constexpr std::size_t size = 0;
constexpr auto last = [](auto x) {
#ifdef PARALLAX_EXPECT_ERROR
  return x + plx::arange(5)[size - 1];
#else
  return x + plx::arange(5)[size + 4];
#endif
};

int main() {
  plx::array<float, 1> a{1, 2};
  plx::jit(last)(a);
}

// The same of a function on a mesh.
// error: shard_map: the function takes 2 arguments, but was called with 1
// line: plx::shard_map\(f, on, in, out\)\(a\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x, auto y) { return x + y; };
constexpr auto on = plx::mesh<plx::device_axis("data", 2)>;
constexpr auto in = plx::in_specs<plx::spec<"data">>;
constexpr auto out = plx::out_specs<plx::spec<"data">>;

int main() {
  plx::array<float, 1> a;
#ifdef PARALLAX_EXPECT_ERROR
  plx::shard_map(f, on, in, out)(a);
#else
  plx::shard_map(f, on, in, out)(a, a);
#endif
}

// The same where an argument lies on the mesh already.
// error: shard_map: result 0 differs between the instances along data, which its spec in out_specs does not name; name it there, or reduce the result first with psum, pmean or another collective
// line: auto y = plx::shard_map\(plx::tanh, on, in, plx::out_specs<plx::spec<>>\)\(placed\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto on = plx::mesh<plx::device_axis("data", 2)>;
constexpr auto in = plx::in_specs<plx::spec<"data">>;

int main() {
  const auto placed = plx::device_put(plx::array<float, plx::extents<8, 6>>(), on, plx::spec<"data">);
#ifdef PARALLAX_EXPECT_ERROR
  auto y = plx::shard_map(plx::tanh, on, in, plx::out_specs<plx::spec<>>)(placed);
#else
  auto y = plx::shard_map(plx::tanh, on, in, plx::out_specs<plx::spec<"data">>)(placed);
#endif
}

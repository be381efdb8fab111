// A result that differs along an axis of the mesh has no place without it.
// error: shard_map: result 0 differs between the instances along model, which its spec in out_specs does not name; name it there, or reduce the result first with psum, pmean or another collective
// line: auto y = plx::shard_map\(plx::tanh, on, plx::in_specs<plx::spec<"model">>, plx::out_specs<plx::spec<>>\)\(a\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto on = plx::mesh<plx::device_axis("data", 2), plx::device_axis("model", 4)>;

int main() {
  plx::array<float, plx::extents<8, 6>> a;
#ifdef PARALLAX_EXPECT_ERROR
  auto y = plx::shard_map(plx::tanh, on, plx::in_specs<plx::spec<"model">>, plx::out_specs<plx::spec<>>)(a);
#else
  auto y = plx::shard_map(plx::tanh, on, plx::in_specs<plx::spec<"model">>, plx::out_specs<plx::spec<"model">>)(a);
#endif
}

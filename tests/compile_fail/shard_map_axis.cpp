// A mesh has the axes that it names.
// error: shard_map: the spec of argument 0 names an axis that the mesh does not have; it has data, model
// line: auto y = plx::shard_map\(plx::tanh, on, plx::in_specs<plx::spec<"row">>, plx::out_specs<plx::spec<"data">>\)\(a\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto on = plx::mesh<plx::device_axis("data", 2), plx::device_axis("model", 4)>;

int main() {
  plx::array<float, plx::extents<8, 6>> a;
#ifdef PARALLAX_EXPECT_ERROR
  auto y = plx::shard_map(plx::tanh, on, plx::in_specs<plx::spec<"row">>, plx::out_specs<plx::spec<"data">>)(a);
#else
  auto y = plx::shard_map(plx::tanh, on, plx::in_specs<plx::spec<"data">>, plx::out_specs<plx::spec<"data">>)(a);
#endif
}

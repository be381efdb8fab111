// An axis of a mesh cuts one dimension.
// error: shard_map: the spec of argument 0 names an axis of the mesh twice; cut one dimension along it
// line: auto y = wrong\(a\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto on = plx::mesh<plx::device_axis("data", 2), plx::device_axis("model", 4)>;
constexpr auto right =
    plx::shard_map(plx::tanh, on, plx::in_specs<plx::spec<"data">>, plx::out_specs<plx::spec<"data">>);
constexpr auto wrong =
    plx::shard_map(plx::tanh, on, plx::in_specs<plx::spec<"data", "data">>, plx::out_specs<plx::spec<"data">>);

int main() {
  plx::array<float, plx::extents<8, 6>> a;
#ifdef PARALLAX_EXPECT_ERROR
  auto y = wrong(a);
#else
  auto y = right(a);
#endif
}

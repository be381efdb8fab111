// Inside another function nothing says how many devices there are.
// error: shard_map: inside another function the axes of a mesh have sizes that are known while compiling; give data one, as a device_axis of a name and a size
// line: auto y = wrong\(a\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto on = plx::mesh<plx::device_axis("data", 2), plx::device_axis("model", 4)>;
constexpr auto open = plx::mesh<"data">;
constexpr auto right =
    plx::jit(plx::shard_map(plx::tanh, on, plx::in_specs<plx::spec<"data">>, plx::out_specs<plx::spec<"data">>));
constexpr auto wrong =
    plx::jit(plx::shard_map(plx::tanh, open, plx::in_specs<plx::spec<"data">>, plx::out_specs<plx::spec<"data">>));

int main() {
  plx::array<float, plx::extents<8, 6>> a;
#ifdef PARALLAX_EXPECT_ERROR
  auto y = wrong(a);
#else
  auto y = right(a);
#endif
}

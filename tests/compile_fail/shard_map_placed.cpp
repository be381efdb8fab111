// A global array lies where in_specs says, and is not moved without being asked to.
// error: shard_map takes a global array that lies on its mesh as in_specs says: .*plx::device_put\(x, mesh, spec\) moves it there
// line: auto y = plx::shard_map\(plx::tanh, on, plx::in_specs<plx::spec<"data">>, plx::out_specs<plx::spec<"data">>\)\(b\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto on = plx::mesh<plx::device_axis("data", 2), plx::device_axis("model", 4)>;

int main() {
  plx::array<float, plx::extents<8, 6>> a;
  const auto b = plx::device_put(a, on, plx::spec<"model">);
#ifdef PARALLAX_EXPECT_ERROR
  auto y = plx::shard_map(plx::tanh, on, plx::in_specs<plx::spec<"data">>, plx::out_specs<plx::spec<"data">>)(b);
#else
  auto y = plx::shard_map(plx::tanh, on, plx::in_specs<plx::spec<"data">>,
                          plx::out_specs<plx::spec<"data">>)(plx::device_put(b, on, plx::spec<"data">));
#endif
}

// A spec says something of the dimensions that there are.
// error: shard_map: the spec of argument 0 has 3 entries for an array of dimension 2; give one for each dimension at most
// line: auto y = wrong\(a\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto on = plx::mesh<plx::device_axis("data", 2), plx::device_axis("model", 4)>;
constexpr auto right =
    plx::shard_map(plx::tanh, on, plx::in_specs<plx::spec<plx::none, plx::none>>, plx::out_specs<plx::spec<>>);
constexpr auto wrong =
    plx::shard_map(plx::tanh, on, plx::in_specs<plx::spec<plx::none, plx::none, "data">>, plx::out_specs<plx::spec<>>);

int main() {
  plx::array<float, plx::extents<8, 6>> a;
#ifdef PARALLAX_EXPECT_ERROR
  auto y = wrong(a);
#else
  auto y = right(a);
#endif
}

// The devices along an axis have equal blocks.
// error: shard_map: argument 0, float32\[8,6\], has 6 elements along axis 1, which 4 devices do not divide evenly; pad it, or use another mesh
// line: auto y = wrong\(a\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto on = plx::mesh<plx::device_axis("data", 2), plx::device_axis("model", 4)>;
constexpr auto right = plx::shard_map(plx::tanh, on, plx::in_specs<plx::spec<plx::none, "data">>,
                                      plx::out_specs<plx::spec<plx::none, "data">>);
constexpr auto wrong = plx::shard_map(plx::tanh, on, plx::in_specs<plx::spec<plx::none, "model">>,
                                      plx::out_specs<plx::spec<plx::none, "model">>);

int main() {
  plx::array<float, plx::extents<8, 6>> a;
#ifdef PARALLAX_EXPECT_ERROR
  auto y = wrong(a);
#else
  auto y = right(a);
#endif
}

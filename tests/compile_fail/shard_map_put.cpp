// The devices along an axis have equal blocks of an array that is put there.
// error: the devices along the axes that a spec names do not divide the array.s dimension evenly: pad it, or use another mesh
// line: auto y = plx::device_put\(a, on, plx::spec<plx::none, "model">\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto on = plx::mesh<plx::device_axis("data", 2), plx::device_axis("model", 4)>;

int main() {
  plx::array<float, plx::extents<8, 6>> a;
#ifdef PARALLAX_EXPECT_ERROR
  auto y = plx::device_put(a, on, plx::spec<plx::none, "model">);
#else
  auto y = plx::device_put(a, on, plx::spec<plx::none, "data">);
#endif
}

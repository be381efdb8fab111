// What is wrong inside the function is said, and nothing of the mesh, whose first axis is open.
// error: matmul: shapes float32.* and float32\[5,6\] do not agree: extent 6 of axis 1 must equal extent 5 of axis 0
// line: const auto y = wrong\(a, b\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto on = plx::mesh<"data", plx::device_axis("model", 2)>;
constexpr auto right = plx::shard_map([](auto x, auto w) { return plx::matmul(x, plx::transpose(w)); }, on,
                                      plx::in_specs<plx::spec<"data">, plx::spec<>>, plx::out_specs<plx::spec<"data">>);
constexpr auto wrong = plx::shard_map([](auto x, auto w) { return plx::matmul(x, w); }, on,
                                      plx::in_specs<plx::spec<"data">, plx::spec<>>, plx::out_specs<plx::spec<"data">>);

int main() {
  plx::array<float, plx::extents<plx::dyn, 6>> a;
  plx::array<float, plx::extents<5, 6>> b;
#ifdef PARALLAX_EXPECT_ERROR
  const auto y = wrong(a, b);
#else
  const auto y = right(a, b);
#endif
}

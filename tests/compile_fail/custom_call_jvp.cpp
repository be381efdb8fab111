// A rule whose tangent is another tree than the result.
// error: custom_call: jvp takes the tuple of arguments, the result and the tuple of tangents, and returns a tree of tangents like the result
// line: plx::jit\(plx::custom_call<halved>\)\(a\)
#include <parallax/parallax.hpp>

#include <tuple>

namespace plx = parallax;

struct halved {
  static void host(plx::ffi_buffer<const float, 1> x, plx::ffi_buffer<float, 1> y) {
    for (std::int64_t i = 0; i < x.size(); ++i) y(i) = x(i) / 2;
  }
  static constexpr auto shape(auto x) { return x; }
#ifdef PARALLAX_EXPECT_ERROR
  static constexpr auto jvp(auto, auto, auto tangents) { return tangents; }
#else
  static constexpr auto jvp(auto, auto, auto tangents) { return std::get<0>(tangents) / 2.0f; }
#endif
};

int main() {
  plx::array<float, plx::extents<3>> a;
  plx::jit(plx::custom_call<halved>)(a);
}

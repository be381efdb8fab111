// A rule whose cotangents are no tuple.
// error: custom_call: vjp takes the tuple of arguments, the result and its cotangents, and returns a tuple: a cotangent for each argument, or none
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
  static constexpr auto vjp(auto, auto, auto cotangent) { return cotangent / 2.0f; }
#else
  static constexpr auto vjp(auto, auto, auto cotangent) { return std::tuple{cotangent / 2.0f}; }
#endif
};

int main() {
  plx::array<float, plx::extents<3>> a;
  plx::jit(plx::custom_call<halved>)(a);
}

// The derivative of a user's function whose rules have none.
// error: grad: nothing is known of the derivative of a custom_call; give its rules vjp, or jvp
// line: plx::jit\(plx::grad\(total\)\)\(a\)
#include <parallax/parallax.hpp>

namespace plx = parallax;

struct halved {
  static void host(plx::ffi_buffer<const float, 1> x, plx::ffi_buffer<float, 1> y) {
    for (std::int64_t i = 0; i < x.size(); ++i) y(i) = x(i) / 2;
  }
  static constexpr auto shape(auto x) { return x; }
#ifndef PARALLAX_EXPECT_ERROR
  static constexpr auto vjp(auto, auto, auto cotangent) { return std::tuple{cotangent / 2.0f}; }
#endif
};
constexpr auto total = [](auto x) { return plx::sum(plx::custom_call<halved>(x)); };

int main() {
  plx::array<float, plx::extents<3>> a;
  plx::jit(plx::grad(total))(a);
}

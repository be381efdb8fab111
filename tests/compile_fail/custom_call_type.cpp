// A user's function that is given numbers of another type than it takes.
// error: custom_call: argument 0 is float64\[3\], but host takes float32 of rank 1, of const elements; arguments are read, and results written
// line: plx::jit\(plx::custom_call<halved>\)\(a\)
#include <parallax/parallax.hpp>

namespace plx = parallax;

struct halved {
  static void host(plx::ffi_buffer<const float, 1> x, plx::ffi_buffer<float, 1> y) {
    for (std::int64_t i = 0; i < x.size(); ++i) y(i) = x(i) / 2;
  }
  static constexpr auto shape(auto x) { return x; }
};

int main() {
#ifdef PARALLAX_EXPECT_ERROR
  plx::array<double, plx::extents<3>> a;
#else
  plx::array<float, plx::extents<3>> a;
#endif
  plx::jit(plx::custom_call<halved>)(a);
}

// A tree given as one argument.
// error: custom_call: one of its arguments is a tree; give it arrays and numbers, the leaves of a tree one by one
// line: plx::jit\(.*custom_call<halved>.*\)\(a\)|plx::custom_call<halved>\(x\)
#include <parallax/parallax.hpp>

#include <tuple>

namespace plx = parallax;

struct halved {
  static void host(plx::ffi_buffer<const float, 1> x, plx::ffi_buffer<float, 1> y) {
    for (std::int64_t i = 0; i < x.size(); ++i) y(i) = x(i) / 2;
  }
  static constexpr auto shape(auto x) { return x; }
};

int main() {
  plx::array<float, plx::extents<3>> a;
#ifdef PARALLAX_EXPECT_ERROR
  plx::jit([](auto x) { return plx::custom_call<halved>(std::tuple{x, x}); })(a);
#else
  plx::jit([](auto x) { return plx::custom_call<halved>(x); })(a);
#endif
}

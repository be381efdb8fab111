// Rules whose function is a template: nothing says which arrays it takes.
// error: custom_call: the rules have no static function host, or it is a template; let it take a plx::ffi_buffer of each argument, of const elements, and then of each result
// line: plx::jit\(plx::custom_call<halved>\)\(a\)
#include <parallax/parallax.hpp>

namespace plx = parallax;

struct halved {
#ifdef PARALLAX_EXPECT_ERROR
  static void host(auto x, auto y){
#else
  static void host(plx::ffi_buffer<const float, 1> x, plx::ffi_buffer<float, 1> y) {
#endif
      for (std::int64_t i = 0; i < x.size(); ++i) y(i) = x(i) / 2;
} static constexpr auto shape(auto x) {
  return x;
}
}
;

int main() {
  plx::array<float, plx::extents<3>> a;
  plx::jit(plx::custom_call<halved>)(a);
}

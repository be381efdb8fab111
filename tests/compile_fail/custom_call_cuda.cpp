// A function for CUDA that takes other arrays than the one for the host.
// error: custom_call: cuda takes other arrays than host, or no stream; let it take a stream, and then what host takes
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
  static void cuda(int, plx::ffi_buffer<const float, 2>, plx::ffi_buffer<float, 1>) {}
#else
  static void cuda(int, plx::ffi_buffer<const float, 1>, plx::ffi_buffer<float, 1>) {}
#endif
};

int main() {
  plx::array<float, plx::extents<3>> a;
  plx::jit(plx::custom_call<halved>)(a);
}
